// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/function_name.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

struct Case {
  const char* demangled;
  const char* expected;
};

class QualifiedNameTest : public testing::TestWithParam<Case> {};

TEST_P(QualifiedNameTest, IsWhatOneWouldSay) { EXPECT_EQ(QualifiedName(GetParam().demangled), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Names, QualifiedNameTest,
    testing::Values(
        Case{"main", "main"}, Case{"cudaMalloc", "cudaMalloc"}, Case{"", ""}, Case{"f(int)", "f"},
        Case{"Attention::forward(Tensor const&, int) const", "Attention::forward"},
        Case{"Attention::forward(int) &&", "Attention::forward"},
        Case{"void at::native::(anonymous namespace)::fill<float>(at::Tensor&) [clone .cold]",
             "at::native::fill<float>"},
        Case{"f(int) [clone .isra.0] [clone .cold]", "f"}, Case{"f [clone .part.0]", "f"}, Case{"run.cold", "run"},
        Case{"run.part.12.isra.0.cold", "run"}, Case{"run.isra", "run.isra"}, Case{"run.12", "run.12"},
        Case{"Model.cold.forward", "Model.cold.forward"}, Case{".cold", ".cold"},
        Case{"(anonymous namespace)::helper((anonymous namespace)::S)", "helper"},
        Case{"_GLOBAL__N__89b8bf71_4_t_cu_acc5a52f::helper(int)", "helper"},
        Case{"void copy<float, c10::impl::OperatorEntry, 4>(float*)", "copy<...>"},
        Case{"A<std::vector<std::pair<int, char> > >::grow(unsigned long)", "A<...>::grow"},
        Case{"std::vector<int>::push_back(int const&)", "std::vector<int>::push_back"},
        Case{"std::__cxx11::to_string(int)", "std::to_string"},
        Case{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
             "std::basic_string<...>::append"},
        Case{"name[abi:cxx11](int)", "name"}, Case{"S::operator()(int) const", "S::operator()"},
        Case{"S::operator<<(int)", "S::operator<<"}, Case{"S::operator<(S const&)", "S::operator<"},
        Case{"S::operator< <int>(int)", "S::operator< <int>"},
        Case{"bool operator==<int>(A<int>, A<int>)", "operator==<int>"}, Case{"S::operator->() const", "S::operator->"},
        Case{"S::operator[](unsigned long)", "S::operator[]"}, Case{"S::operator bool() const", "S::operator bool"},
        Case{"S::operator std::vector<int>() const", "S::operator std::vector<int>"},
        Case{"operator new(unsigned long)", "operator new"}, Case{"operator delete[](void*)", "operator delete[]"},
        Case{"operator\"\" _kib(unsigned long long)", "operator\"\" _kib"},
        Case{"main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}::operator()"},
        Case{"run(int)::{lambda(void (*)(int), char)#2}::operator()(void (*)(int), char) const",
             "run::{lambda#2}::operator()"},
        Case{"A::run(int) const::{lambda()#1}::operator()() const", "A::run::{lambda#1}::operator()"},
        Case{"decltype(auto) apply<int>(int)", "apply<int>"}, Case{"decltype (f(1)) g<int>(int)", "g<int>"},
        Case{"void (*signal(int, void (*)(int)))(int)", "signal"}, Case{"non-virtual thunk to B::run(int)", "B::run"},
        Case{"std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()"},
        Case{"void f<(Kind)1, (1>2)>()", "f<(Kind)1, (1>2)>"}, Case{"operators::run(int)", "operators::run"},
        Case{"my_operator(int)", "my_operator"}, Case{"plain(float*) [launch stub]", "plain [launch stub]"},
        Case{"void (anonymous namespace)::anon<float>(float*, int) [launch stub]", "anon<float> [launch stub]"},
        Case{"<module>", "<module>"}, Case{"Model.forward.<locals>.<lambda>", "Model.forward.<locals>.<lambda>"},
        Case{"libc.so.6+0x29d90", "libc.so.6+0x29d90"}, Case{"my lib.so+0x10", "my lib.so+0x10"},
        Case{"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", "alloc::vec::Vec<T,A>::drop"},
        Case{"<T as alloc::string::ToString>::to_string", "alloc::string::ToString::to_string"},
        Case{"<<job::A as job::B>::C as job::D>::run", "job::A::C::run"}, Case{"<job::Model>::new", "job::Model::new"},
        Case{"<F as core::ops::Fn(i32)>::call", "core::ops::Fn::call"},
        Case{"job::main::{{closure}}", "job::main::{{closure}}"},
        // Damaged names end somewhere.
        Case{"f<<<(((", "f<<<((("}, Case{"f(((", "f"}, Case{"}>)]", "}>)]"}, Case{"(", "("},
        Case{"operator", "operator"}));

TEST(ShortFunctionName, HasTwoPartsWithoutTemplateArguments) {
  EXPECT_EQ(ShortFunctionName("<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop"), "Vec::drop");
  EXPECT_EQ(ShortFunctionName("core::ptr::drop_in_place::<job::Model>"), "ptr::drop_in_place");
  EXPECT_EQ(ShortFunctionName("std::__cxx11::to_string(int)"), "std::to_string");
  EXPECT_EQ(ShortFunctionName("plain(float*) [launch stub]"), "plain");
  EXPECT_EQ(ShortFunctionName("run.isra.0.cold"), "run");
  EXPECT_EQ(ShortFunctionName("S::operator std::vector<int>() const"), "S::operator std::vector<int>");
}

}  // namespace
}  // namespace vramtrack
