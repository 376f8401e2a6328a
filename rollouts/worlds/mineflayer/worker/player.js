'use strict'
// The player: a mineflayer bot, and what every physics tick shows of it.

const { FOR_EVER, VERSION } = require('./server')
const { View } = require('./view')

const SETTLE_TICKS = 20
const MOST_PASSES = 4000
const KEYS = ['forward', 'back', 'left', 'right', 'jump', 'sneak', 'sprint']
const ARMOR = [5, 6, 7, 8, 45]

class Player {
  constructor (settings, pass) {
    this.pass = pass
    const mineflayer = require('mineflayer')
    const { pathfinder, Movements } = require('mineflayer-pathfinder')
    this.bot = mineflayer.createBot({
      host: settings.host,
      port: settings.port,
      username: settings.username,
      auth: settings.auth,
      version: VERSION,
      respawn: false,
      hideErrors: true,
      ...(settings.embedded ? { checkTimeoutInterval: FOR_EVER } : {})
    })
    this.bot.loadPlugin(pathfinder)
    this.bot.loadPlugin(require('mineflayer-collectblock').plugin)
    this.Movements = Movements
    this.lost = null
    this.alive = true
    this.turn = 0
    this.doing = new Set()
    this.rows = []
    this.events = []
    this.changes = []
    this.health = null
    this.gui = 'none'
    this.held = {}
    this.watch()
  }

  // The place of this in the trace is the tick that is under way.
  tell (kind, name, { count = null, text = null, signal = null } = {}) {
    this.events.push([this.rows.length, kind, name, count, text, signal])
  }

  tick () {
    return new Promise(resolve => this.bot.once('physicsTick', resolve))
  }

  watch () {
    const { bot } = this
    bot.on('physicsTick', () => this.record())
    bot.on('death', () => {
      this.alive = false
      this.tell('game', 'died', { text: 'died', signal: 'died' })
    })
    bot.on('health', () => {
      const lost = this.health - bot.health
      if (this.health !== null && lost > 0) this.tell('game', 'hurt', { count: Math.round(lost) })
      this.health = bot.health
    })
    bot.on('messagestr', text => this.tell('chat', null, { text }))
    bot.on('kicked', reason => { this.lost ??= `kicked: ${JSON.stringify(reason)}` })
    bot.on('error', error => { this.lost ??= `${error.name}: ${error.message}` })
    bot.on('end', reason => { this.lost ??= `disconnected: ${reason}` })
  }

  // Puts this side's own ways around what mineflayer does.
  wrap () {
    const { bot } = this
    const dig = bot.dig
    bot.dig = async (block, ...how) => {
      const { name } = block // which the block object loses when it breaks
      await dig(block, ...how)
      this.tell('counter', `mine_block:${name}`, { count: 1 })
    }
    // A click takes a tick, as a hand would; one that was overtaken by another errand is not made any more.
    const click = bot.clickWindow
    bot.clickWindow = async (...where) => {
      const { turn } = this
      await this.tick()
      if (turn !== this.turn) throw new Error('the errand has ended')
      return click(...where)
    }
    // Without a chest to take a tool from it would look for one for ever.
    const equip = bot.tool.equipForBlock.bind(bot.tool)
    bot.tool.equipForBlock = (block, options) => equip(block, { ...options, getFromChest: false })
  }

  // Resolves when the player stands in the world; throws where he does not get there.
  async arrive () {
    const { bot } = this
    let spawned = false
    bot.once('spawn', () => { spawned = true })
    const until = async done => {
      for (let count = 0; !done(); count++) {
        if (this.lost) throw new Error(this.lost)
        if (count >= MOST_PASSES) throw new Error('the player did not get into the world')
        await this.pass()
      }
    }
    await until(() => spawned && bot.entity?.position && bot.blockAt(bot.entity.position))
    this.rows = []
    await until(() => this.rows.length >= SETTLE_TICKS && bot.entity.onGround)
    this.view = new View(bot)
    this.wrap()
    const movements = new this.Movements(bot)
    movements.allow1by1towers = true
    movements.canOpenDoors = false
    bot.pathfinder.setMovements(movements)
    bot.collectBlock.movements = movements
    this.rows = []
    this.events = []
    this.changes = []
  }

  record () {
    const { bot } = this
    const { x, y, z } = bot.entity.position
    this.gui = this.screen()
    this.rows.push([
      x, y, z, degrees(Math.PI - bot.entity.yaw), degrees(-bot.entity.pitch),
      bot.health ?? 20, bot.food ?? 20, this.alive, bot.heldItem?.name ?? 'air', this.gui, this.action()
    ])
    const now = this.inventory()
    for (const name of [...new Set([...Object.keys(now), ...Object.keys(this.held)])].sort()) {
      const [after, before] = [now[name] ?? 0, this.held[name] ?? 0]
      if (after !== before) this.changes.push([this.rows.length - 1, name, after - before, after])
    }
    this.held = now
  }

  screen () {
    const type = this.bot.currentWindow?.type ?? ''
    if (!type) return this.doing.has('craft') ? 'inventory' : 'none'
    if (type.startsWith('minecraft:crafting')) return 'crafting_table'
    return type.startsWith('minecraft:furnace') ? 'furnace' : 'other'
  }

  // The inputs of this tick, as the trace contract writes them.
  action () {
    const pressed = KEYS.filter(key => this.bot.getControlState(key))
    if (this.bot.targetDigBlock || this.doing.has('attack')) pressed.push('attack')
    for (const key of ['craft', 'smelt', 'use']) if (this.doing.has(key)) pressed.push(key)
    return pressed.sort().join('+') || 'noop'
  }

  // What is carried, a thing in the crafting grid or on the cursor included.
  inventory () {
    const { bot } = this
    const window = bot.currentWindow ?? bot.inventory
    const held = {}
    const add = item => { if (item) held[item.name] = (held[item.name] ?? 0) + item.count }
    for (let slot = window.inventoryStart; slot < window.inventoryEnd; slot++) add(window.slots[slot])
    for (const slot of ARMOR) add(bot.inventory.slots[slot])
    add(window.selectedItem)
    const grid = window.craftingResultSlot !== 0 ? 0 : window === bot.inventory ? 4 : 9
    for (let slot = 1; slot <= grid; slot++) add(window.slots[slot])
    return held
  }

  count (names) {
    const held = this.inventory()
    return names.reduce((sum, name) => sum + (held[name] ?? 0), 0)
  }

  // Everybody in view but the player himself and what lies about.
  crowd () {
    const mine = this.bot.entity
    return Object.values(this.bot.entities).filter(each => (
      each !== mine && each.name && each.name !== 'item' && each.position.distanceTo(mine.position) <= 24
    ))
  }

  steer ({ forward = 0, strafe = 0, jump = false, sneak = false, sprint = false, yaw = null, pitch = null }) {
    const { bot } = this
    const wanted = {
      forward: forward > 0, back: forward < 0, left: strafe < 0, right: strafe > 0, jump, sneak, sprint
    }
    for (const [key, held] of Object.entries(wanted)) bot.setControlState(key, held)
    if (yaw !== null || pitch !== null) {
      const turned = yaw === null ? bot.entity.yaw : Math.PI - yaw * Math.PI / 180
      bot.look(turned, pitch === null ? bot.entity.pitch : -pitch * Math.PI / 180, true)
    }
  }
}

function degrees (radians) {
  const turned = radians * 180 / Math.PI
  return turned - 360 * Math.floor((turned + 180) / 360)
}

module.exports = { Player }
