'use strict'
// The ground that worlds are made of: rolling grass over stone, trees, ores by height, caves. All of it is a
// function of the seed and the place, so that chunks can be made in any order.

const { Vec3 } = require('vec3')
const { chance } = require('../random')

const BASE = 64
const ROLL = 5
const SOIL = 3
const TREE_CELL = 6
const TREE_SHARE = 0.45
const TRUNK = 4
// ore, veins per chunk, blocks per vein, lowest and highest y, as the game spreads them
const VEINS = [
  ['coal_ore', 20, 9, 5, 62],
  ['iron_ore', 20, 5, 5, 60],
  ['gold_ore', 2, 5, 5, 31],
  ['redstone_ore', 8, 5, 2, 15],
  ['diamond_ore', 1, 5, 2, 15],
  ['lapis_ore', 1, 5, 2, 30],
  ['dirt', 6, 20, 5, 60],
  ['gravel', 5, 20, 5, 60]
]
const WORMS = 0.35
const WORM_LENGTH = 40
const WORM_REACH = 3

// Value noise in [-1, 1] over squares of `size` blocks.
function noise (seed, x, z, size) {
  const left = Math.floor(x / size)
  const top = Math.floor(z / size)
  const smooth = t => t * t * (3 - 2 * t)
  const a = smooth(x / size - left)
  const b = smooth(z / size - top)
  const at = (i, k) => chance(seed, left + i, top + k, size) * 2 - 1
  return (at(0, 0) * (1 - a) + at(1, 0) * a) * (1 - b) + (at(0, 1) * (1 - a) + at(1, 1) * a) * b
}

// y of the topmost block of a column.
function height (seed, x, z) {
  return Math.round(BASE + ROLL * (0.7 * noise(seed, x, z, 48) + 0.3 * noise(seed + 1, x, z, 16)))
}

// The tree of a square of TREE_CELL blocks, or null. None stands where the player begins.
function tree (seed, cellX, cellZ) {
  if (chance(seed, cellX, cellZ, 11) >= TREE_SHARE) return null
  const x = cellX * TREE_CELL + 1 + Math.floor(chance(seed, cellX, cellZ, 12) * (TREE_CELL - 2))
  const z = cellZ * TREE_CELL + 1 + Math.floor(chance(seed, cellX, cellZ, 13) * (TREE_CELL - 2))
  if (Math.max(Math.abs(x), Math.abs(z)) < 4) return null
  const wood = chance(seed, cellX >> 3, cellZ >> 3, 14) < 0.7 ? 'oak' : 'birch'
  return { x, z, foot: height(seed, x, z) + 1, wood }
}

module.exports = ({ seed, registry }) => {
  const Chunk = require('prismarine-chunk')(registry)
  const state = name => registry.blocksByName[name].defaultState
  const [bedrock, stone, dirt, grass] = ['bedrock', 'stone', 'dirt', 'grass_block'].map(state)
  const plains = registry.biomesByName.plains.id

  return (chunkX, chunkZ) => {
    const chunk = new Chunk()
    const left = chunkX * 16
    const top = chunkZ * 16
    const inside = (x, z) => x >= left && x < left + 16 && z >= top && z < top + 16
    const at = (x, y, z) => new Vec3(x - left, y, z - top)
    const put = (x, y, z, block) => chunk.setBlockStateId(at(x, y, z), block)
    const is = (x, y, z) => chunk.getBlockStateId(at(x, y, z))

    for (let x = left; x < left + 16; x++) {
      for (let z = top; z < top + 16; z++) {
        const surface = height(seed, x, z)
        put(x, 0, z, bedrock)
        for (let y = 1; y <= surface; y++) {
          put(x, y, z, y === surface ? grass : y >= surface - SOIL ? dirt : stone)
        }
      }
    }
    for (let x = 0; x < 16; x += 4) {
      for (let z = 0; z < 16; z += 4) {
        for (let y = 0; y < 256; y += 4) chunk.setBiome(new Vec3(x, y, z), plains)
      }
    }
    VEINS.forEach(([name, count, size, low, high], kind) => {
      const ore = state(name)
      for (let vein = 0; vein < count; vein++) {
        const draw = what => chance(seed, chunkX, chunkZ, kind, vein, what)
        let x = left + Math.floor(draw(0) * 16)
        let y = low + Math.floor(draw(1) * (high - low + 1))
        let z = top + Math.floor(draw(2) * 16)
        for (let block = 0; block < size; block++) {
          if (inside(x, z) && y > 0 && is(x, y, z) === stone) put(x, y, z, ore)
          const way = Math.floor(draw(3 + block) * 6)
          x += (way === 0) - (way === 1)
          y += (way === 2) - (way === 3)
          z += (way === 4) - (way === 5)
        }
      }
    })
    dig(chunkX, chunkZ, (x, y, z) => {
      if (inside(x, z) && y > 4 && y < height(seed, x, z) + 1) put(x, y, z, 0)
    })
    for (let cellX = Math.floor((left - 3) / TREE_CELL); cellX * TREE_CELL < left + 19; cellX++) {
      for (let cellZ = Math.floor((top - 3) / TREE_CELL); cellZ * TREE_CELL < top + 19; cellZ++) {
        const each = tree(seed, cellX, cellZ)
        if (each) grow(each, (x, y, z, block) => inside(x, z) && put(x, y, z, block), is, inside)
      }
    }
    return chunk
  }

  function grow ({ x, z, foot, wood }, put, is, inside) {
    const log = state(`${wood}_log`)
    const leaf = state(`${wood}_leaves`)
    for (let dy = TRUNK - 2; dy <= TRUNK + 1; dy++) {
      const wide = dy < TRUNK ? 2 : 1
      for (let dx = -wide; dx <= wide; dx++) {
        for (let dz = -wide; dz <= wide; dz++) {
          const corner = Math.abs(dx) === wide && Math.abs(dz) === wide
          if (corner && (dy === TRUNK + 1 || chance(seed, x + dx, foot + dy, z + dz) < 0.5)) continue
          if (inside(x + dx, z + dz) && is(x + dx, foot + dy, z + dz) === 0) put(x + dx, foot + dy, z + dz, leaf)
        }
      }
    }
    for (let dy = 0; dy < TRUNK; dy++) put(x, foot + dy, z, log)
  }

  // Tunnels that begin in this chunk or one near enough to lead into it.
  function dig (chunkX, chunkZ, open) {
    for (let fromX = chunkX - WORM_REACH; fromX <= chunkX + WORM_REACH; fromX++) {
      for (let fromZ = chunkZ - WORM_REACH; fromZ <= chunkZ + WORM_REACH; fromZ++) {
        if (chance(seed, fromX, fromZ, 21) >= WORMS) continue
        let [x, y, z] = [fromX * 16 + 8, 12 + chance(seed, fromX, fromZ, 22) * 40, fromZ * 16 + 8]
        let heading = chance(seed, fromX, fromZ, 23) * 2 * Math.PI
        for (let step = 0; step < WORM_LENGTH; step++) {
          for (let dx = -1; dx <= 1; dx++) {
            for (let dy = -1; dy <= 1; dy++) {
              for (let dz = -1; dz <= 1; dz++) open(Math.floor(x) + dx, Math.floor(y) + dy, Math.floor(z) + dz)
            }
          }
          heading += (chance(seed, fromX, fromZ, 24, step) - 0.5) * 0.8
          x += Math.cos(heading)
          z += Math.sin(heading)
          y += (chance(seed, fromX, fromZ, 25, step) - 0.5) * 1.2
        }
      }
    }
  }
}

module.exports.height = height
