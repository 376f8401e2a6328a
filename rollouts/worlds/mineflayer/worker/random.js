'use strict'
// Numbers that a seed decides.

// A 32-bit mix of some integers (the finaliser of MurmurHash3).
function mixed (...numbers) {
  let hash = 0x9e3779b9
  for (const each of numbers) {
    hash = Math.imul(hash ^ (each | 0), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}

// The same in [0, 1).
function chance (...numbers) {
  return mixed(...numbers) / 4294967296
}

// A stream of numbers in [0, 1).
function stream (seed) {
  let count = 0
  return () => chance(seed, count++)
}

module.exports = { mixed, chance, stream }
