'use strict'
// What the player sees: the blocks beside the air that reaches him, within a box around his eyes. That is near to
// what a look around shows, and nothing of what lies in the ground.

const { Vec3 } = require('vec3')

const WIDE = 20
const HIGH = 10
const EYES = 1.62
const SIDES = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
// Of what there is so much in view nothing is remembered.
const COMMON = 64

class View {
  constructor (bot) {
    this.bot = bot
    this.names = []
    this.clear = []
    const states = bot.registry.blocksByStateId
    for (const [state, block] of Object.entries(states)) {
      this.names[state] = block.id
      this.clear[state] = block.boundingBox === 'empty' || block.transparent === true && !block.name.endsWith('_leaves')
    }
    const blocks = bot.registry.blocksArray
    this.palette = ['unknown']
    for (const block of blocks) this.palette[block.id + 1] = block.name
    this.memory = new Map()
    this.changed = true
    this.from = null
    bot.on('blockUpdate', () => { this.changed = true })
    bot.on('chunkColumnLoad', () => { this.changed = true })
  }

  // {origin, blocks} as it is now; the last one where nothing has changed.
  look () {
    const eyes = this.bot.entity.position.offset(0, EYES, 0).floored()
    if (!this.changed && this.from && this.from.equals(eyes)) return this.window
    this.changed = false
    this.from = eyes
    const [nx, ny, nz] = [2 * WIDE + 1, 2 * HIGH + 1, 2 * WIDE + 1]
    const origin = eyes.offset(-WIDE, -HIGH, -WIDE)
    const blocks = new Uint16Array(nx * ny * nz)
    const columns = new Map()
    const state = (x, y, z) => {
      const key = (x >> 4) * 65536 + (z >> 4)
      if (!columns.has(key)) columns.set(key, this.bot.world.getColumn(x >> 4, z >> 4) ?? null)
      const column = columns.get(key)
      return column && y >= 0 && y < 256 ? column.getBlockStateId(new Vec3(x & 15, y, z & 15)) : null
    }
    const queue = [[WIDE, HIGH, WIDE]]
    blocks[(WIDE * ny + HIGH) * nz + WIDE] = 1
    for (let head = 0; head < queue.length; head++) {
      const [i, j, k] = queue[head]
      for (const [dx, dy, dz] of SIDES) {
        const [a, b, c] = [i + dx, j + dy, k + dz]
        if (a < 0 || b < 0 || c < 0 || a >= nx || b >= ny || c >= nz) continue
        const index = (a * ny + b) * nz + c
        if (blocks[index]) continue
        const found = state(origin.x + a, origin.y + b, origin.z + c)
        if (found === null) continue
        blocks[index] = this.names[found] + 1
        if (this.clear[found]) queue.push([a, b, c])
      }
    }
    this.window = { origin, blocks, size: [nx, ny, nz] }
    this.remember()
    return this.window
  }

  remember () {
    const { origin, blocks, size: [nx, ny, nz] } = this.window
    this.inView = new Map()
    for (let index = 0; index < blocks.length; index++) {
      if (blocks[index] < 2) continue
      const name = this.palette[blocks[index]]
      if (!this.inView.has(name)) this.inView.set(name, [])
      this.inView.get(name).push(index)
    }
    const place = index => new Vec3(
      origin.x + Math.floor(index / (ny * nz)), origin.y + Math.floor(index / nz) % ny, origin.z + index % nz
    )
    for (const [name, found] of this.inView) {
      if (found.length <= COMMON) for (const index of found) this.memory.set(String(place(index)), [name, place(index)])
    }
    this.place = place
  }

  // Places of blocks of these names, nearest first, seen now or remembered, within the land that is loaded.
  find (names, most = 64) {
    this.look()
    const here = this.bot.entity.position.offset(0, EYES, 0)
    const found = new Map()
    for (const name of names) {
      for (const index of this.inView.get(name) ?? []) found.set(String(this.place(index)), this.place(index))
    }
    for (const [key, [name, place]] of this.memory) {
      if (!names.includes(name)) continue
      const now = this.bot.blockAt(place, false)
      if (now && now.name !== name) this.memory.delete(key)
      else if (now) found.set(key, place)
    }
    const far = place => place.offset(0.5, 0.5, 0.5).distanceTo(here)
    return [...found.values()].sort((a, b) => far(a) - far(b)).slice(0, most)
  }
}

module.exports = { View }
