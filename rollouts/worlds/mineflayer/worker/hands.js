'use strict'
// What every errand is made of: ticks, ways, and a word when something does not work.

const { goals } = require('mineflayer-pathfinder')

const TICK_MS = 50
const WAY_TICKS = 600
const LEG = 16
const GLANCE_TICKS = 10
const TURN = 100

class Stopped extends Error {}

class Hands {
  constructor (player, errand) {
    this.player = player
    this.bot = player.bot
    this.view = player.view
    this.errand = errand
    this.off = false
    this.stopped = new Promise((resolve, reject) => { this.halt = () => reject(new Stopped()) })
    this.stopped.catch(() => {})
    this.heading = errand.heading ?? 0
  }

  stop () {
    this.off = true
    this.halt()
    this.player.turn += 1
    this.bot.collectBlock.targets.clear()
    this.bot.pathfinder.setGoal(null)
    this.bot.stopDigging()
    this.bot.clearControlStates()
    if (this.bot.currentWindow) this.bot.closeWindow(this.bot.currentWindow)
    this.player.doing.clear()
  }

  check () {
    if (this.off || !this.player.alive) throw new Stopped()
  }

  async ticks (count) {
    for (let tick = 0; tick < count; tick++) {
      this.check()
      await Promise.race([this.player.tick(), this.stopped])
    }
    this.check()
  }

  async within (work, ticks) {
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`timed out after ${ticks} ticks`)), ticks * TICK_MS)
    })
    try {
      return await Promise.race([work, late, this.stopped])
    } finally {
      clearTimeout(timer)
      this.check()
    }
  }

  // An error of the game, as a message of the trace.
  complain (error, name = this.errand.target) {
    if (error instanceof Stopped || this.off) throw error
    this.player.tell('error', name, { text: String(error.message ?? error) })
  }

  // Walks until there; false, with a message, where there is no way. `until` ends the walk early.
  async go (goal, until = null) {
    this.check()
    let seen = false
    let tick = 0
    const glance = () => {
      if (until && ++tick % GLANCE_TICKS === 0 && until()) {
        seen = true
        this.bot.pathfinder.setGoal(null)
      }
    }
    this.bot.on('physicsTick', glance)
    try {
      await this.within(this.bot.pathfinder.goto(goal), WAY_TICKS)
      return true
    } catch (error) {
      // Whoever was stopped leaves the path finder to the next.
      if (error instanceof Stopped) throw error
      if (seen) return true
      this.bot.pathfinder.setGoal(null)
      this.complain(error)
      await this.ticks(1)
      return false
    } finally {
      this.bot.removeListener('physicsTick', glance)
    }
  }

  near (place, range) {
    return this.go(new goals.GoalNear(place.x, place.y, place.z, range))
  }

  async toHeight (y, until = null) {
    return this.go(new goals.GoalY(y), until)
  }

  // A walk of some blocks the way that one is heading; turns where there is no way. Level, it is a tunnel where one
  // stands in the ground: else the way over the land would be the shorter one.
  async roam (until = null, level = false) {
    const { x, y, z } = this.bot.entity.position
    const turned = this.heading * Math.PI / 180
    const [toX, toZ] = [x - LEG * Math.sin(turned), z + LEG * Math.cos(turned)]
    const goal = level ? new goals.GoalNear(toX, y, toZ, 2) : new goals.GoalNearXZ(toX, toZ, 3)
    const went = await this.go(goal, until)
    if (!went) this.heading += TURN
    return went
  }

  block (names) {
    const [place] = this.view.find(names, 1)
    return place ? this.bot.blockAt(place) : null
  }

  held (names) {
    return this.bot.inventory.items().find(item => names.includes(item.name)) ?? null
  }

  // Holds a key for a tick that shows it, does the work and lets go.
  async pressing (key, work) {
    this.player.doing.add(key)
    try {
      await this.ticks(1)
      return await work()
    } finally {
      this.player.doing.delete(key)
    }
  }

  async pickUp (range = 8) {
    const lies = () => Object.values(this.bot.entities)
      .filter(each => each.name === 'item' && each.position.distanceTo(this.bot.entity.position) <= range)
    for (let tries = 0; tries < 4 && lies().length; tries++) {
      const { x, y, z } = lies()[0].position
      if (!(await this.near({ x, y, z }, 1))) return
      await this.ticks(GLANCE_TICKS)
    }
  }
}

module.exports = { Hands, Stopped }
