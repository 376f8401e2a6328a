'use strict'
// Time for everything in this process that the game is made of: timers, Date and performance.now. It stands
// still until it is told to pass, so that a world waits while the agent thinks, and runs as fast as the
// processor does otherwise. Sockets are the real thing: what they have to bring is waited for after each tick.

const STEP_MS = 50
const EPOCH = Date.UTC(2021, 0, 1)
const GRAIN_MS = 5

const real = {
  Date,
  now: performance.now.bind(performance),
  setTimeout,
  setInterval,
  setImmediate
}

class Timer {
  constructor (clock, id) {
    this.clock = clock
    this.id = id
  }

  ref () { return this }
  unref () { return this }
  hasRef () { return true }
  refresh () {
    const job = this.clock.jobs.get(this.id)
    if (job) job.due = this.clock.time + job.every
    return this
  }

  [Symbol.toPrimitive] () { return this.id }
}

class Clock {
  constructor (speed) {
    this.speed = speed
    this.time = 0
    this.firedAt = real.now()
    this.jobs = new Map()
    this.count = 0
  }

  // Puts this clock in place of the process's own. Has to come before the game is loaded.
  install () {
    const clock = this
    globalThis.setTimeout = (call, ms, ...args) => this.schedule(call, ms, args, false)
    globalThis.setInterval = (call, ms, ...args) => this.schedule(call, ms, args, true)
    globalThis.clearTimeout = globalThis.clearInterval = timer => {
      if (timer != null) this.jobs.delete(Number(timer))
    }
    globalThis.Date = class extends real.Date {
      constructor (...args) {
        super(...(args.length ? args : [EPOCH + clock.time]))
      }

      static now () { return EPOCH + clock.time }
    }
    Object.defineProperty(performance, 'now', { value: () => this.now(), configurable: true })
  }

  // The time of the tick. Within a long computation it goes on, in coarse steps, for the path finder measures how
  // long it has been thinking and would never end; the next timer is back at the time of its tick.
  now () {
    return this.time + Math.floor((real.now() - this.firedAt) / GRAIN_MS) * GRAIN_MS
  }

  schedule (call, ms, args, repeats) {
    const id = ++this.count
    const every = Math.max(1, Number(ms) || 0)
    this.jobs.set(id, { call, args, due: this.time + every, every, repeats })
    return new Timer(this, id)
  }

  // One tick of 50 ms: every timer that is due, in order, and then whatever the sockets bring. `bytes` tells how
  // many have passed through them.
  async pass (bytes) {
    const started = real.now()
    const end = this.time + STEP_MS
    for (let next = this.next(end); next; next = this.next(end)) {
      const [id, job] = next
      if (job.due > this.time) {
        await turn()
        this.time = job.due
      }
      if (job.repeats) job.due += job.every
      else this.jobs.delete(id)
      this.firedAt = real.now()
      job.call(...job.args)
    }
    this.time = end
    this.firedAt = real.now()
    await settled(bytes)
    const left = this.speed > 0 ? STEP_MS / this.speed - (real.now() - started) : 0
    if (left >= 1) await new Promise(resolve => real.setTimeout(resolve, left))
  }

  next (end) {
    let first = null
    for (const each of this.jobs) {
      if (each[1].due <= end && (first === null || each[1].due < first[1].due)) first = each
    }
    return first
  }
}

function turn () {
  return new Promise(resolve => real.setImmediate(resolve))
}

// Until nothing has come through the sockets for a few turns of the event loop.
async function settled (bytes) {
  let last = bytes()
  for (let quiet = 0; quiet < 4;) {
    await turn()
    const now = bytes()
    quiet = now === last ? quiet + 1 : 0
    last = now
  }
}

// The player's own server goes its own way: a tick is waited for as it comes.
class WallClock {
  install () {}

  async pass () {
    await new Promise(resolve => real.setTimeout(resolve, STEP_MS / 2))
  }
}

module.exports = { Clock, WallClock, real }
