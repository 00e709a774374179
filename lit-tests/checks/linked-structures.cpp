// SPDX-License-Identifier: Apache-2.0
// Structures that lead back to themselves: the analysis comes to its end, and finds what is wrong beside them.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

struct Node {
  torch::Tensor value;
  Node *prev = nullptr, *next = nullptr, *self = nullptr;
};

// An object stored in a member of itself, in a loop.
void append(Node *list, Node *node, int n) {
  for (int i = 0; i < n; ++i) {
    node->prev = list;
    node->next = list->next;
    list->next = node;
    list->self = list;
    list = list->self;
  }
}

// Copies of objects that point at each other.
void ring(int n) {
  Node a, b;
  for (int i = 0; i < n; ++i) {
    a.next = &a;
    a.prev = a.next;
    b = a;
    a.next->prev = &b;
    b.next = b.prev;
    a = *b.next;
  }
}

float use_in_a_list(Node *list) {
  list->self = list;
  torch::Tensor value = list->value;
  tensorscope::release(value);
  return value.item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: use of 'value' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

// A walk along a list takes what is known of the next object along.
float use_after_a_step(Node *list) {
  tensorscope::release(list->next->value);
  list = list->next;
  return list->value.item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use of 'list.value' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}

float use_after_self_assignment(Node node) {
  tensorscope::release(node.value);
  node = node;
  return node.value.item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: use of 'node.value' after it was released: its memory is gone for every alias and view [tensorscope-use-after-release]
}
