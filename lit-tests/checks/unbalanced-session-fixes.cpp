// SPDX-License-Identifier: Apache-2.0
// Where the one stop ends the block of the start, an object takes the place of both.
// RUN: %check_tidy %s tensorscope-unbalanced-session %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <stdexcept>

void experiment();

void leftByAReturn(bool fail) {
  tensorscope::start_session();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  // CHECK-FIXES: {{^}}  tensorscope::Session session;{{$}}
  // CHECK-FIXES-NOT: stop_session
  experiment();
  if (fail)
    return;
  tensorscope::stop_session();
}
void leftByAThrow(bool fail) {
  // CHECK-FIXES: void leftByAThrow(
  tensorscope::start_session();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the session that starts here is left open when an exception is thrown; {{.*}} [tensorscope-unbalanced-session]
  // CHECK-FIXES: {{^}}  tensorscope::Session session;{{$}}
  if (fail)
    throw std::runtime_error("failed");
  tensorscope::stop_session();
}
// More runs after the stop, in the same block.
void goesOn(bool fail) {
  // CHECK-FIXES: void goesOn(
  tensorscope::start_session();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  // CHECK-FIXES: {{^}}  tensorscope::start_session();{{$}}
  if (fail)
    return;
  tensorscope::stop_session();
  experiment();
}
// The name is taken.
void named(bool session) {
  // CHECK-FIXES: void named(
  tensorscope::start_session();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  // CHECK-FIXES: {{^}}  tensorscope::start_session();{{$}}
  if (session)
    return;
  tensorscope::stop_session();
}
// What starts and stops it may do more.
static void begin() { tensorscope::start_session(); }
static void end() { tensorscope::stop_session(); }
void throughCallees(bool fail) {
  // CHECK-FIXES: void throughCallees(
  begin();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the session that starts here, in 'begin', is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  // CHECK-FIXES: {{^}}  begin();{{$}}
  if (fail)
    return;
  end();
}
