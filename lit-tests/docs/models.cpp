// SPDX-License-Identifier: Apache-2.0
// The model file that docs/models.md shows does what the page says: functions that are not seen are known by it.
// RUN: sed -n '/^```yaml/,/^```/{/^```/!p;}' %source_root/docs/models.md > %t.yml
// RUN: %check_tidy %s tensorscope-* %t "--config={CheckOptions: {tensorscope-use-after-release.Models: %t.yml}}"
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <utility>

namespace app {
torch::Tensor decode(int frame);
torch::Tensor top_half(const torch::Tensor &image);
void recycle(torch::Tensor image);
void show(const torch::Tensor &image);
template <typename Body> auto in_scope(Body &&body) { return std::forward<Body>(body)(); }
void keep_forever(torch::Tensor image);
struct Pool {
  void give_back(torch::Tensor image);
};
struct Reader {
  torch::Tensor next();
};
struct Buffer {
  explicit Buffer(int size);
  ~Buffer();
  float *raw();
  void grow(int size);
};
torch::Tensor as_tensor(float *memory, int size);
} // namespace app

// A tensor over memory that the model says is moved.
void moved() {
  app::Buffer buffer(8);
  auto image = app::as_tensor(buffer.raw(), 8);
  buffer.grow(16);
  app::show(image);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'image' after the elements of 'buffer', which it borrows, may have been moved; {{.*}} [tensorscope-dangling-blob]
}
torch::Tensor of_a_local() {
  app::Buffer buffer(8);
  return app::as_tensor(buffer.raw(), 8);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result borrows the memory of 'buffer', which is gone at the end of this function; {{.*}} [tensorscope-dangling-blob]
}

// A function that the model says releases its argument.
void released() {
  auto image = torch::zeros({480, 641});
  auto half = app::top_half(image);
  app::recycle(image);
  app::show(half);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'half' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
void givenBack(app::Pool &pool) {
  auto image = torch::zeros({480, 641});
  pool.give_back(image);
  app::show(image);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: use of 'image' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

// A function that the model says makes tensors.
void loop(app::Reader &reader, int frames) {
  for (int i = 0; i < frames; ++i)
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this loop creates tensors in each iteration with no scope open; open one scope per iteration with 'with_torch' or 'Scope' [tensorscope-unscoped-loop]
    app::show(reader.next());
}

// A C interface that the model describes.
extern "C" {
struct app_tensor;
struct app_stream {
  void (*close)(app_stream *self);
};
app_tensor *app_tensor_new(int n);
app_stream *app_stream_open();
int app_tensor_load(const char *path, app_tensor **out);
void app_tensor_free(app_tensor *t);
}
int lostHandle(const char *path, bool more) {
  app_tensor *t = nullptr;
  if (app_tensor_load(path, &t))
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: what 'app_tensor_load' makes here for 't' is not freed on every path; free it on every path, or hold it in an object that does [tensorscope-raw-handle-leak]
    return 1;
  if (!more)
    return 2;
  app_tensor_free(t);
  return 0;
}
void freedHandles() {
  app_tensor_free(app_tensor_new(4));
  app_stream *stream = app_stream_open();
  stream->close(stream);
}
void closedTwice() {
  app_stream *stream = app_stream_open();
  stream->close(stream);
  stream->close(stream);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'stream' is freed here for the second time; free each handle once, and set it to null where another path may do it again [tensorscope-raw-handle-leak]
}

// A wrapper that the model says opens a scope, and one that retains.
void wrapper(torch::Tensor &outer, const torch::Tensor &image) {
  app::in_scope([&] { return image * 3; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the result of this scope carries tensors and is discarded: they are kept past the scope for nobody; end the scope with a number, or with nothing [tensorscope-discarded-scope-result]
  app::in_scope([&] {
    outer = image + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor made in this scope is stored in 'outer', which outlives the scope: it is released when the scope ends; 'retain' it or return it from the scope [tensorscope-unretained-escape]
    return 3;
  });
  app::in_scope([&] {
    outer = image + 1;
    app::keep_forever(outer);
    return 3;
  });
}
