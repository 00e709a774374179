// SPDX-License-Identifier: Apache-2.0
// Shows that the two test programs are linked in the two orders that they are meant to be linked in.
#include "scope_test.h"

#include <link.h>

namespace tensorscope_test {
namespace {

/// Where the library is in the loader's list, in which symbols are looked up; -1 if it is not.
int position_of(const std::string& library) {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        static_cast<std::vector<std::string>*>(data)->push_back(info->dlpi_name);
        return 0;
      },
      &names);
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].find("/" + library) != std::string::npos)
      return static_cast<int>(i);
  return -1;
}

TEST(LinkOrderTest, OurLibraryComesFirst) {
  ASSERT_GE(position_of("libtensorscope.so"), 0);
  EXPECT_LT(position_of("libtensorscope.so"), position_of("libtorch_cpu.so"));
}

TEST(LinkOrderTest, LibTorchComesFirst) {
  ASSERT_GE(position_of("libtorch_cpu.so"), 0);
  EXPECT_LT(position_of("libtorch_cpu.so"), position_of("libtensorscope.so"));
}

} // namespace
} // namespace tensorscope_test
