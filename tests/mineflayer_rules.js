'use strict'
// The rules of the embedded server, without a server: `node --test` runs this (tests/test_mineflayer.py).

const assert = require('node:assert')
const { EventEmitter } = require('node:events')
const path = require('node:path')
const { createRequire } = require('node:module')
const test = require('node:test')

const worker = path.join(__dirname, '..', 'rollouts', 'worlds', 'mineflayer', 'worker')
const load = createRequire(path.join(worker, 'main.js'))
const registry = load('prismarine-registry')('1.16.5')
const Item = load('prismarine-item')(registry)
const { Body, fragile } = load('./game/body')
const { Furnace } = load('./game/furnaces')
const { Recipes } = load('./game/recipes')
const ground = load('./game/ground')
const { Vec3 } = load('vec3')

const item = (name, count = 1) => new Item(registry.itemsByName[name].id, count)
const grid = (...names) => names.map(name => name && item(name))
const made = result => result && `${result.count} ${registry.items[result.id].name}`

function player (held = null) {
  const slots = new Array(46).fill(null)
  slots[36] = held
  const one = { health: 20, food: 20, foodSaturation: 0, heldItemSlot: 0, id: 1 }
  one.inventory = { slots, updateSlot: (slot, what) => { slots[slot] = what } }
  one._client = Object.assign(new EventEmitter(), { write: () => {} })
  for (const [set, key] of [['updateHealth', 'health'], ['updateFood', 'food'], ['updateFoodSaturation', 'foodSaturation']]) {
    one[set] = value => { one[key] = value }
  }
  return one
}

test('a grid makes what the game makes of it, wherever the shape lies and mirrored', () => {
  const recipes = new Recipes(registry)
  const [p, s] = ['oak_planks', 'stick']
  assert.strictEqual(made(recipes.result(grid(null, 'oak_log', null, null), 2)), '4 oak_planks')
  assert.strictEqual(made(recipes.result(grid(null, p, null, p), 2)), '4 stick')
  assert.strictEqual(made(recipes.result(grid(p, p, p, null, s, null, null, s, null), 3)), '1 wooden_pickaxe')
  const axe = ['1 wooden_axe', '1 wooden_axe']
  assert.deepStrictEqual([
    made(recipes.result(grid(p, p, null, p, s, null, null, s, null), 3)),
    made(recipes.result(grid(p, p, null, s, p, null, s, null, null), 3))
  ], axe)
  assert.strictEqual(recipes.result(grid(p, null, s, null), 2), null)
  assert.strictEqual(recipes.result(grid(null, null, null, null), 2), null)
})

test('a fall of more than three blocks hurts by the rest', () => {
  const one = player()
  const body = new Body({}, one, { foods: {} })
  const at = (y, onGround) => one._client.emit('position', { x: 0, y, z: 0, onGround })
  at(70, true)
  for (const y of [69, 67, 67.5]) at(y, y === 67.5)
  assert.strictEqual(one.health, 20)
  at(67.5, true)
  at(65, false)
  at(57.5, true)
  assert.strictEqual(one.health, 13)
  assert.ok(body)
})

test('walking makes hungry, food fills, and who starves is hurt', () => {
  const one = player(item('bread', 2))
  const body = new Body({}, one, { foods: { bread: 5 } })
  one.food = 10
  for (let x = 0; x <= 450; x++) one._client.emit('position', { x, y: 64, z: 0, onGround: true })
  body.tick()
  assert.strictEqual(one.food, 9)
  one._client.emit('use_item')
  for (let tick = 0; tick < 31; tick++) body.tick()
  assert.strictEqual(one.food, 9)
  body.tick()
  assert.strictEqual(one.food, 14)
  assert.strictEqual(one.inventory.slots[36].count, 1)
  one.food = 0
  for (let tick = 0; tick < 80; tick++) body.tick()
  assert.strictEqual(one.health, 19)
})

test('a furnace takes 200 ticks a piece as long as its fuel lasts', () => {
  const furnace = new Furnace(Item, registry, { smelting: { iron_ore: 'iron_ingot' }, fuels: { oak_planks: 1.5 } })
  furnace.slots[0] = item('iron_ore', 3)
  furnace.slots[1] = item('oak_planks', 1)
  for (let tick = 0; tick < 199; tick++) furnace.tick()
  assert.strictEqual(furnace.slots[2], null)
  furnace.tick()
  furnace.tick()
  assert.strictEqual(furnace.slots[2].count, 1)
  for (let tick = 0; tick < 400; tick++) furnace.tick()
  assert.strictEqual(furnace.slots[2].count, 1, 'half a piece is lost when the fire goes out')
  assert.strictEqual(furnace.slots[0].count, 2)
})

test('a push fits its packet, and a sword hits harder than a hand', () => {
  const hits = []
  const cow = { type: 'mob', health: 10, takeDamage: how => { hits.push(how); cow.health -= how.damage } }
  const left = []
  const fist = player(item('stone_sword'))
  fragile(cow, { players: [fist] }, dead => left.push(dead))
  cow.takeDamage({ velocity: new Vec3(500, -500, 3) })
  assert.deepStrictEqual({ ...hits[0].velocity }, { x: 70, y: -70, z: 3 })
  fist.inventory.slots[36] = null
  cow.takeDamage({ velocity: null })
  assert.deepStrictEqual(hits.map(each => each.damage), [5, 1])
  cow.health = 1
  cow.takeDamage({})
  assert.deepStrictEqual(left, [cow])
})

test('a chunk is a function of seed and place', () => {
  const dump = (seed, x) => ground({ seed, registry })(x, 0).dump().toString('base64')
  assert.strictEqual(dump(5, 1), dump(5, 1))
  assert.notStrictEqual(dump(5, 1), dump(6, 1))
  assert.notStrictEqual(dump(5, 1), dump(5, 2))
  const chunk = ground({ seed: 5, registry })(0, 0)
  const name = y => registry.blocksByStateId[chunk.getBlockStateId(new Vec3(0, y, 0))].name
  const top = ground.height(5, 0, 0)
  assert.deepStrictEqual([name(0), name(top), name(top + 1)], ['bedrock', 'grass_block', 'air'])
})
