'use strict'
// Errands that bring something in: mining and hunting.

const ONE_TICKS = 240
const VAIN = 3
const LEGS = 24
const STEP_DOWN = 4
const SHALLOW = 8
const STRIKE_TICKS = 12
const ARM = 3
const LOST_TICKS = 400

// {blocks, items, wanted, depth, ground, lucky}: breaks blocks until so many of the items are held.
async function mine (hands, { blocks, items, wanted, depth, ground, lucky }) {
  const { bot, player, view } = hands
  const avoided = new Set()
  const near = () => view.find(blocks).filter(place => !avoided.has(String(place)))
  const floor = depth ?? (ground ? bot.entity.position.y - SHALLOW : null)
  let [vain, legs] = [0, 0]
  while (player.count(items) < wanted) {
    await hands.ticks(1)
    const [place] = near()
    if (!place) {
      if (++legs > LEGS) return
      await search(hands, floor, () => near().length > 0)
      continue
    }
    const before = player.count(items)
    const { name } = bot.blockAt(place)
    try {
      await hands.within(bot.collectBlock.collect(bot.blockAt(place)), ONE_TICKS)
    } catch (error) {
      bot.collectBlock.targets.clear()
      hands.complain(error)
      if (error.name === 'NoItem') return
    }
    if (player.count(items) === before) await hands.pickUp(4)
    if (player.count(items) > before) {
      vain = 0
      continue
    }
    avoided.add(String(place))
    // One that the path finder would rather leave where it is was not tried.
    if (bot.blockAt(place)?.name !== name && ++vain >= VAIN && !lucky) return
  }
}

async function search (hands, floor, until) {
  const { y } = hands.bot.entity.position
  if (floor === null || y <= floor + 0.5) await hands.roam(until, floor !== null)
  else await hands.toHeight(Math.max(Math.floor(floor), Math.floor(y) - STEP_DOWN), until)
}

// {creatures, count}: finds and fights so many.
async function combat (hands, { creatures, count }) {
  const { bot, player } = hands
  const { goals } = require('mineflayer-pathfinder')
  const near = () => player.crowd()
    .filter(each => creatures.includes(each.name))
    .sort((a, b) => a.position.distanceTo(bot.entity.position) - b.position.distanceTo(bot.entity.position))
  let [killed, legs] = [0, 0]
  while (killed < count) {
    const [prey] = near()
    if (!prey) {
      if (++legs > LEGS) return
      await hands.roam(() => near().length > 0)
      await hands.ticks(1)
      continue
    }
    bot.pathfinder.setGoal(new goals.GoalFollow(prey, ARM - 1), true)
    for (let tick = 0; prey.isValid && tick < LOST_TICKS; tick++) {
      await hands.ticks(1)
      if (tick % STRIKE_TICKS || prey.position.distanceTo(bot.entity.position) > ARM + 1) continue
      await bot.lookAt(prey.position.offset(0, 0.8, 0), true)
      await hands.pressing('attack', async () => bot.attack(prey))
    }
    bot.pathfinder.setGoal(null)
    if (prey.isValid) return hands.complain(new Error(`timed out after ${LOST_TICKS} ticks`), prey.name)
    killed += 1
    player.tell('counter', `kill_entity:${prey.name}`, { count: 1 })
    await hands.ticks(STRIKE_TICKS)
    await hands.pickUp()
  }
}

module.exports = { mine, combat }
