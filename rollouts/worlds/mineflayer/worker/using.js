'use strict'
// Errands with one thing: put down, eat, wear, go to; and going somewhere.

const { Vec3 } = require('vec3')

const NEAR = 2
const LEGS = 24
const ROOM = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1], [2, 0], [0, 2], [-2, 0], [0, -2]]
const MEAL_TICKS = 60
const STEP_DOWN = 4
const SPOTS = 4
const LANDING_TICKS = 10

async function use (hands, errand) {
  const way = { place, eat, equip, open }[errand.verb]
  if (!way) {
    return hands.pressing('use', async () => hands.complain(new Error(`nothing is done here to "${errand.verb}"`)))
  }
  return way(hands, errand)
}

// {items, count}
async function place (hands, { items, count }) {
  const { bot } = hands
  for (let placed = 0; placed < count; placed++) {
    const item = hands.held(items)
    if (!item) return hands.pressing('use', async () => hands.complain(new Error(`missing item ${items[0]}`), items[0]))
    await bot.equip(item, 'hand')
    let done = false
    for (const ground of grounds(bot).slice(0, SPOTS)) {
      try {
        await hands.pressing('use', () => hands.within(bot.placeBlock(ground, new Vec3(0, 1, 0)), MEAL_TICKS))
        done = true
        break
      } catch (error) {
        hands.complain(error, item.name)
        await hands.ticks(2)
      }
    }
    if (!done) {
      if (!grounds(bot).length) hands.complain(new Error('no room to place a block'), item.name)
      return
    }
    hands.player.tell('counter', `use_item:${item.name}`, { count: 1 })
    await hands.ticks(2)
  }
}

// Blocks around the feet with nothing on them, nearest first.
function grounds (bot) {
  const feet = bot.entity.position.floored()
  return [-1, 0, -2].flatMap(down => ROOM.map(([x, z]) => bot.blockAt(feet.offset(x, down, z)))).filter(ground => {
    const above = ground && bot.blockAt(ground.position.offset(0, 1, 0))
    return ground?.boundingBox === 'block' && above?.name === 'air'
  })
}

// {items, count}
async function eat (hands, { items, count }) {
  const { bot } = hands
  for (let meal = 0; meal < count; meal++) {
    const food = hands.held(items)
    if (!food) return hands.pressing('use', async () => hands.complain(new Error(`missing item ${items[0]}`), items[0]))
    await bot.equip(food, 'hand')
    try {
      await hands.pressing('use', () => hands.within(bot.consume(), MEAL_TICKS))
      hands.player.tell('counter', `use_item:${food.name}`, { count: 1 })
    } catch (error) {
      return hands.complain(error, food.name)
    }
  }
}

// {items}
async function equip (hands, { items }) {
  const item = hands.held(items)
  if (!item) return hands.pressing('use', async () => hands.complain(new Error(`missing item ${items[0]}`), items[0]))
  const part = { helmet: 'head', chestplate: 'torso', leggings: 'legs', boots: 'feet' }[item.name.split('_').pop()]
  await hands.pressing('use', () => hands.bot.equip(item, part ?? 'hand'))
}

// {stations}
async function open (hands, { stations }) {
  const { bot } = hands
  if (!(await toSeen(hands, stations))) return
  const block = hands.block(stations)
  await hands.pressing('use', () => bot.activateBlock(block))
  await hands.ticks(10)
  if (bot.currentWindow) bot.closeWindow(bot.currentWindow)
}

// {depth, height, stations, creatures}: to a height, to a thing, or somewhere else.
async function move (hands, { depth, height, stations, creatures }) {
  const { y } = hands.bot.entity.position
  if (depth !== null) return down(hands, depth)
  if (height !== null) return y < height && hands.toHeight(Math.ceil(height))
  if (stations.length || creatures.length) return toSeen(hands, stations, creatures)
  return hands.roam()
}

// Some blocks at a time, each to where the feet stand.
async function down (hands, depth) {
  for (let y = hands.bot.entity.position.y; y > depth; y = hands.bot.entity.position.y) {
    if (!(await hands.toHeight(Math.max(Math.floor(depth), Math.floor(y) - STEP_DOWN)))) return
    await hands.ticks(LANDING_TICKS)
  }
}

async function toSeen (hands, blocks, creatures = []) {
  const { player, view } = hands
  const place = () => view.find(blocks, 1)[0] ?? player.crowd().find(each => creatures.includes(each.name))?.position
  for (let legs = 0; !place() && legs < LEGS; legs++) {
    await hands.roam(() => place() !== undefined)
    await hands.ticks(1)
  }
  return place() !== undefined && hands.near(place(), NEAR)
}

async function wait (hands) {
  for (;;) await hands.ticks(20)
}

module.exports = { use, move, wait }
