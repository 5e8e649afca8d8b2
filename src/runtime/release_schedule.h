#pragma once

#include <chrono>
#include <cstdint>

// When Node.js versions appear and become LTS. A rule instead of a list, so that it does not age:
//  - up to 26: an even major appears in April and becomes LTS in October of that year (20: 2023,
//    22: 2024, 24: 2025, 26: 2026); an odd one appears in October and never does;
//  - from 27 on: one major a year, in April, numbered after the year, LTS in October.
namespace belljar::runtime {

using Date = std::chrono::sys_days;

constexpr uint64_t kOldestMajor = 20;  // older ones are not supported any more, by Node.js or by us

bool is_lts(uint64_t major, Date today);
uint64_t newest_lts_major(Date today);
uint64_t newest_major(Date today);

Date today();

}  // namespace belljar::runtime
