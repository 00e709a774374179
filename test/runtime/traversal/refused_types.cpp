// SPDX-License-Identifier: Apache-2.0
// Compiles as it is; with TENSORSCOPE_REFUSED each line of `refused` must be a compile-time error.
// Not part of a program: see tensorscope_add_refused_source.
#include <tensorscope/traversal.h>

#include <any>

using at::Tensor;

class OpaqueClass {
 public:
  OpaqueClass() = default;

 private:
  Tensor tensor_;
};
struct Base {
  Tensor a;
};
struct WithBase : Base {
  Tensor b;
};
struct CArray {
  int n;
  Tensor states[2];
};
class UserFunctor {
 public:
  Tensor operator()(const Tensor& x) const { return x + bias_; }
  UserFunctor() = default;

 private:
  Tensor bias_;
};
union OpaqueUnion {
  OpaqueUnion() {}
  ~OpaqueUnion() {}
  Tensor tensor;
};
struct Incomplete;
class OpaqueInside {
  Tensor tensor_;
};
struct Holder {
  std::vector<OpaqueInside> deep;
};

template <class T>
void look(const T& value) {
  tensorscope::detail::for_each_tensor(value, [](const Tensor&) {});
}

void accepted(const Base& base, const std::vector<Tensor>& list) {
  look(base);
  look(list);
  look([list] { return list; });
}

#ifdef TENSORSCOPE_REFUSED
void refused(const OpaqueClass& opaque, const WithBase& with_base, const CArray& c_array, const UserFunctor& functor,
             const OpaqueUnion& opaque_union, const std::unique_ptr<Incomplete>& incomplete, const std::any& any,
             const Holder& holder) {
  look(opaque);
  look(with_base);
  look(c_array);
  look(functor);
  look(opaque_union);
  look(incomplete);
  look(any);
  look(holder);
}
#endif
