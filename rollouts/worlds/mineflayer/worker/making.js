'use strict'
// Errands at a station: crafting and smelting, by the clicks that a player would make.

const NEAR = 2
const IN_VAIN = 2
const SMELT_TICKS = 200
const PATIENCE_TICKS = 60
const BATCH = 8

// {items, wanted, tables}: crafts the first of the items that can be made of what is held.
async function craft (hands, { items, wanted, tables }) {
  const { bot, player } = hands
  const idOf = name => bot.registry.itemsByName[name]?.id
  const recipe = name => bot.recipesFor(idOf(name), null, 1, true)[0]
  const name = items.find(recipe) ?? items[0]
  let vain = 0
  while (player.count(items) < wanted && vain < IN_VAIN) {
    const way = recipe(name) ?? bot.recipesAll(idOf(name), null, true)[0]
    if (!way) return hands.complain(new Error(`there is no recipe for ${name}`), name)
    const table = way.requiresTable ? hands.block(tables) : null
    if (table) await hands.near(table.position, NEAR)
    const before = player.count(items)
    await hands.pressing('craft', async () => {
      try {
        await hands.within(bot.craft(way, 1, table ?? undefined), PATIENCE_TICKS * 4)
        player.tell('counter', `craft_item:${name}`, { count: 1 })
      } catch (error) {
        putBack(bot)
        hands.complain(unwrapped(error), name)
      }
      await hands.ticks(1)
    })
    await hands.ticks(2)
    vain = player.count(items) > before ? 0 : vain + 1
  }
}

// mineflayer wraps the errors of crafting in another one's text.
function unwrapped (error) {
  return new Error(String(error.message).replace(/^(\w*Error: )+/, ''))
}

// What an interrupted craft has left in the grid and on the cursor is put back by the server.
function putBack (bot) {
  bot.inventory.selectedItem = null
  bot._client.write('close_window', { windowId: 0 })
}

// {sources, fuels, product, wanted, furnaces}: smelts what is missing of the product.
async function smelt (hands, { sources, fuels, product, wanted, furnaces }) {
  const { bot, player } = hands
  const place = hands.block(furnaces)
  if (!place) {
    return hands.pressing('smelt', async () => hands.complain(new Error(`no ${furnaces[0]} is in reach`), product))
  }
  await hands.near(place.position, NEAR)
  while (player.count([product]) < wanted) {
    const before = player.count([product])
    const furnace = await hands.within(bot.openFurnace(place), PATIENCE_TICKS)
    try {
      await load(hands, furnace, { sources, fuels, count: Math.min(BATCH, wanted - before) })
    } catch (error) {
      hands.complain(error, product)
    } finally {
      if (bot.currentWindow) bot.closeWindow(furnace)
    }
    await hands.ticks(4)
    if (player.count([product]) === before) return
  }
}

async function load (hands, furnace, { sources, fuels, count }) {
  const { bot, player } = hands
  const most = names => bot.inventory.items().filter(item => names.includes(item.name)).sort((a, b) => b.count - a.count)[0]
  const source = most(sources)
  const spare = item => player.count([item.name]) > (item.name === source?.name ? count : 0)
  const fuel = bot.inventory.items()
    .filter(item => fuels[item.name] && spare(item))
    .sort((a, b) => fuels[b.name] - fuels[a.name])[0]
  const pieces = source ? Math.min(count, player.count([source.name])) : 0
  await hands.pressing('smelt', async () => {
    if (source) await furnace.putInput(source.type, null, pieces)
    if (fuel) await furnace.putFuel(fuel.type, null, Math.min(player.count([fuel.name]), Math.ceil(pieces / fuels[fuel.name])))
  })
  if (!source) throw new Error('missing ingredient')
  const enough = () => (furnace.outputItem()?.count ?? 0) >= pieces
  for (let tick = 0; !enough() && tick < pieces * SMELT_TICKS + PATIENCE_TICKS; tick++) {
    await hands.ticks(1)
    if (tick > PATIENCE_TICKS && !fuel && !furnace.fuel) throw new Error('nothing burns in the furnace')
  }
  if (furnace.outputItem()) await furnace.takeOutput()
}

module.exports = { craft, smelt }
