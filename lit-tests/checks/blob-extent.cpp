// SPDX-License-Identifier: Apache-2.0
// Finds tensors over memory that is smaller than they are, or that holds values of another type.
// RUN: %check_tidy %s tensorscope-blob-extent %t
#include <torch/torch.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

void consume(const torch::Tensor &t);
void fill(std::vector<float> &v);

// ----- Too small ------------------------------------------------------------

void array() {
  float a[4] = {};
  consume(torch::from_blob(a, {5}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'a' holds 16 bytes of 'float', and the tensor reads 20 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
}

void widerType() {
  float samples[5] = {};
  consume(torch::from_blob(samples, {5}, torch::kFloat64));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'samples' holds 20 bytes of 'float', and the tensor reads 40 of 'kDouble'; say 'torch::kFloat' [tensorscope-blob-extent]
  // CHECK-FIXES: {{^}}  consume(torch::from_blob(samples, {5}, torch::kFloat));{{$}}
}

void twoDimensions() {
  const int rows = 3;
  std::array<double, 6> a{};
  consume(torch::from_blob(a.data(), {rows, 3}, torch::kDouble));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'a' holds 48 bytes of 'double', and the tensor reads 72 of 'kDouble'; make the sizes smaller [tensorscope-blob-extent]
}

void vectorOfThree() {
  std::vector<int64_t> v{1, 2, 3};
  consume(torch::from_blob(v.data(), {4}, torch::kLong));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds 24 bytes of 'long', and the tensor reads 32 of 'kLong'; make the sizes smaller [tensorscope-blob-extent]
}

void vectorOfACount() {
  std::vector<float> v(10);
  v[0] = 1;
  consume(torch::from_blob(v.data(), {11}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds 40 bytes of 'float', and the tensor reads 44 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
}

void allocated() {
  float *p = new float[8];
  consume(torch::from_blob(p, {3, 3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'p' holds 32 bytes of 'float', and the tensor reads 36 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
  delete[] p;
}
void allocatedByC() {
  auto *p = static_cast<float *>(std::malloc(8 * sizeof(float)));
  consume(torch::from_blob(p, {9}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'p' holds 32 bytes of 'float', and the tensor reads 36 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
  std::free(p);
}

void oneVariable() {
  int64_t label = 3;
  consume(torch::from_blob(&label, {2}, torch::kInt64));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'label' holds 8 bytes of 'long', and the tensor reads 16 of 'kLong'; make the sizes smaller [tensorscope-blob-extent]
}

struct Packet {
  float values[16];
};
void member(Packet &packet) {
  consume(torch::from_blob(packet.values, {4, 5}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'packet.values' holds 64 bytes of 'float', and the tensor reads 80 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
}

// From the middle of memory, with gaps, behind a smart pointer.
void fromTheMiddle() {
  float a[12] = {};
  consume(torch::from_blob(a + 8, {8}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'a' holds 16 bytes of 'float', and the tensor reads 32 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
  consume(torch::from_blob(&a[10], {3}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'a' holds 8 bytes of 'float', and the tensor reads 12 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
  std::vector<float> v(12);
  consume(torch::from_blob(&v[0], {13}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds 48 bytes of 'float', and the tensor reads 52 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
}
void strided() {
  float a[24] = {};
  consume(torch::from_blob(a, {4, 6}, {8, 1}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'a' holds 96 bytes of 'float', and the tensor reads 120 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
}
void behindASmartPointer() {
  auto p = std::make_unique<float[]>(10);
  consume(torch::from_blob(p.get(), {20}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'p' holds 40 bytes of 'float', and the tensor reads 80 of 'kFloat', the default; make the sizes smaller [tensorscope-blob-extent]
}

// ----- Another type ---------------------------------------------------------

// Objects that are made of numbers of one type.
struct Point {
  double x, y;
};
void points(std::vector<Point> &v, std::vector<std::array<int, 3>> &triangles) {
  consume(torch::from_blob(v.data(), {int64_t(v.size()), 2}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds values of 'double', and the tensor is over 'kFloat', the default; say 'torch::kDouble' [tensorscope-blob-extent]
  consume(torch::from_blob(triangles.data(), {int64_t(triangles.size()), 3}, torch::kLong));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'triangles' holds values of 'int', and the tensor is over 'kLong'; say 'torch::kInt' [tensorscope-blob-extent]
}

// The type is `kFloat` where none is written.
void defaultType(std::vector<double> &v) {
  consume(torch::from_blob(v.data(), {int64_t(v.size())}));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds values of 'double', and the tensor is over 'kFloat', the default; say 'torch::kDouble' [tensorscope-blob-extent]
  // CHECK-FIXES: {{^}}  consume(torch::from_blob(v.data(), {int64_t(v.size())}, torch::kDouble));{{$}}
}

void integersAsFloats(int *p, int64_t n) {
  consume(torch::from_blob(p, {n}, torch::kFloat));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'p' holds values of 'int', and the tensor is over 'kFloat'; say 'torch::kInt' [tensorscope-blob-extent]
  // CHECK-FIXES: {{^}}  consume(torch::from_blob(p, {n}, torch::kInt));{{$}}
}

void inOptions(std::vector<float> &v) {
  auto options = torch::TensorOptions().dtype(torch::kInt64).device(torch::kCPU);
  consume(torch::from_blob(v.data(), {2}, options));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds values of 'float', and the tensor is over 'kLong'; say 'torch::kFloat' [tensorscope-blob-extent]
}

void onlyADevice(double *p, int64_t n) {
  consume(torch::from_blob(p, {n}, torch::kCPU));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'p' holds values of 'double', and the tensor is over 'kFloat', the default; say 'torch::kDouble' [tensorscope-blob-extent]
}

// ----- Not reported ---------------------------------------------------------

void agreeing() {
  double d[4] = {};
  float f[4] = {};
  int64_t l[4] = {};
  int i[4] = {};
  short s[4] = {};
  bool q[4] = {};
  unsigned u[4] = {};
  size_t z[4] = {};
  consume(torch::from_blob(d, {4}, torch::kDouble));
  consume(torch::from_blob(f, {2, 2}));
  consume(torch::from_blob(l, {4}, torch::kLong));
  consume(torch::from_blob(i, {4}, torch::kInt32));
  consume(torch::from_blob(s, {4}, torch::kShort));
  consume(torch::from_blob(q, {4}, torch::kBool));
  consume(torch::from_blob(u, {4}, torch::kInt));
  consume(torch::from_blob(z, {4}, torch::kInt64));
  consume(torch::from_blob(d, {4}, torch::TensorOptions().requires_grad(true).dtype(torch::kFloat64)));
}

// Bytes may be anything, and anything may be looked at as bytes.
void bytes(uint8_t *p) {
  float f[4] = {};
  uint8_t b[16] = {};
  consume(torch::from_blob(p, {4}));
  consume(torch::from_blob(b, {4}));
  consume(torch::from_blob(f, {16}, torch::kByte));
}

// The bits of a half; the parts of a complex number.
void bits(uint16_t *p, std::complex<float> *c) {
  consume(torch::from_blob(p, {4}, torch::kHalf));
  consume(torch::from_blob(c, {4, 2}));
}

// What is said by a cast is believed.
void cast(double *p) { consume(torch::from_blob(reinterpret_cast<float *>(p), {8})); }

// Within the memory.
void within() {
  float a[24] = {};
  consume(torch::from_blob(a + 8, {16}));
  consume(torch::from_blob(&a[8], {4, 4}));
  consume(torch::from_blob(a, {3, 6}, {8, 1}));
  consume(torch::from_blob(a, {8, 8}, {0, 1}));
  consume(torch::from_blob(a, {0, 100}));
  auto p = std::make_unique<float[]>(10);
  consume(torch::from_blob(p.get(), {10}));
  p = std::make_unique<float[]>(100);
  consume(torch::from_blob(p.get(), {100}));
}

// Objects that are what the tensor has, that are one of its elements, and that
// are made of different things.
struct Vertex {
  float x, y, z;
};
struct Bits {
  uint16_t bits;
};
struct Box {
  float x, y;
  int label;
};
void objects(Vertex *v, Bits *h, Box *b) {
  consume(torch::from_blob(v, {4, 3}));
  consume(torch::from_blob(h, {4}, torch::kHalf));
  consume(torch::from_blob(b, {4, 3}));
}
struct Prefix {
  int rows, columns;
};
void behindAnObject(Prefix *p) { consume(torch::from_blob(p + 1, {p->rows, p->columns})); }

// How much there is, or how much is asked for, is not known.
void notKnown(std::vector<float> &v, int64_t n) {
  consume(torch::from_blob(v.data(), {100}));
  float a[4] = {};
  consume(torch::from_blob(a, {n}));
  int64_t count = 100;
  count = 2;
  consume(torch::from_blob(a, {count}));
  std::vector<float> grown(2);
  grown.resize(100);
  consume(torch::from_blob(grown.data(), {100}));
  std::vector<float> filled(2);
  fill(filled);
  consume(torch::from_blob(filled.data(), {100}));
  float *p = new float[2];
  p = v.data();
  consume(torch::from_blob(p, {100}));
}

// The last member may be the head of more.
struct Header {
  int size;
  float data[1];
};
void head(Header *h) { consume(torch::from_blob(h->data, {h->size})); }
void fixedHead(Header *h) { consume(torch::from_blob(h->data, {8})); }

// Each instance takes its own branch.
template <typename T>
void byType(T *p, int64_t n) {
  if (sizeof(T) == 8)
    consume(torch::from_blob(p, {n}, torch::kDouble));
  else
    consume(torch::from_blob(p, {n}, torch::kFloat));
}
void instances(float *f, double *d) {
  byType(f, 3);
  byType(d, 3);
}

// False negative: a size that is set on the way.
void setOnTheWay() {
  float a[4] = {};
  int64_t n = 0;
  n = 5;
  consume(torch::from_blob(a, {n}));
}
