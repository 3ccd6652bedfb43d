// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <csignal>
#include <initializer_list>

namespace raylift::cli {
namespace {

// A signal handler may only set such a variable.
volatile std::sig_atomic_t signal_seen = 0;

extern "C" void note_signal(int number) {
  signal_seen = number;
}

}  // namespace

void catch_interrupts() noexcept {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction current {};
    if (::sigaction(number, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal has the default action
    sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

int interrupted_by() noexcept {
  return signal_seen;
}

}  // namespace raylift::cli
