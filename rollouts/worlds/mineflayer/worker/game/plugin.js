'use strict'
// The plugin for flying-squid that makes it a game: crafting, furnaces, drops that ask for a tool, hunger, falls,
// animals, a fixed spawn point. Its tables are this project's own (rollouts/worlds/mineflayer/tables.py).

const { Vec3 } = require('vec3')
const { Body, fragile } = require('./body')
const { Furnace } = require('./furnaces')
const { height } = require('./ground')
const { Recipes } = require('./recipes')
const { Screens } = require('./windows')

const PICKUP_MS = 500
const RARE = 0.15
const ANIMALS = ['cow', 'pig', 'sheep', 'chicken']
const HERD = 8
const HEALTH = { cow: 10, pig: 10, sheep: 8, chicken: 4 }

module.exports.server = function (serv, options) {
  const { registry } = serv
  const { tables, seed } = options.game
  const Item = require('prismarine-item')(registry)
  const recipes = new Recipes(registry)
  const furnaces = new Map()
  const bodies = []
  const itemEntity = registry.entitiesByName.item.id
  // What a block leaves is decided below.
  registry.blockLoot = new Proxy({}, { get: () => ({ drops: [] }) })

  serv.dropItem = (world, position, type, count) => {
    for (let each = 0; each < count; each++) {
      serv.spawnObject(itemEntity, world, position, {
        velocity: new Vec3(0, 0, 0), itemId: type, itemCount: 1, pickupTime: PICKUP_MS, deathTime: 300000
      })
    }
  }
  serv.gameDrops = (block, held) => {
    const tools = tables.tools[block]
    if (tools && !tools.includes(held)) return []
    const rare = (tables.rare[block] ?? []).filter(() => Math.random() < RARE)
    return [...(tables.drops[block] ?? []), ...rare].filter(name => registry.itemsByName[name])
  }
  serv.game = {
    join (player) {
      const screens = new Screens(serv, player, recipes, furnaces)
      bodies.push(new Body(serv, player, tables))
      player.screens = screens
      player.spawnPoint = new Vec3(0.5, height(seed, 0, 0) + 1, 0.5)
      player.findSpawnPoint = async () => {}
      player.foodSaturation = 5
      player.on('dug', ({ position, block, drops }) => {
        const held = player.inventory.slots[36 + player.heldItemSlot]?.name ?? 'air'
        drops.length = 0
        const kept = furnaces.get(String(position))
        furnaces.delete(String(position))
        const centre = position.offset(0.5, 0.5, 0.5)
        for (const name of serv.gameDrops(block.name, held)) {
          serv.dropItem(player.world, centre, registry.itemsByName[name].id, 1)
        }
        for (const item of kept?.slots ?? []) if (item) serv.dropItem(player.world, centre, item.type, item.count)
      })
      player.on('spawned', () => herd(player.world))
    }
  }
  serv.once('asap', () => {
    serv.onBlockInteraction('crafting_table', ({ player }) => {
      player.screens.show('crafting_table')
      return true
    })
    serv.onBlockInteraction('furnace', ({ block, player }) => {
      const key = String(block.position)
      if (!furnaces.has(key)) furnaces.set(key, new Furnace(Item, registry, tables))
      player.screens.show('furnace', furnaces.get(key))
      return true
    })
  })
  serv.on('newEntity', entity => {
    fragile(entity, serv, dead => {
      for (const name of tables.entity_drops[dead.name] ?? []) {
        const item = registry.itemsByName[name]
        if (item) serv.dropItem(dead.world, dead.position.offset(0, 0.5, 0), item.id, 1)
      }
    })
  })
  serv.on('tick', () => {
    for (const body of bodies) body.tick()
    for (const furnace of furnaces.values()) furnace.tick()
  })

  let herded = false
  function herd (world) {
    if (herded) return
    herded = true
    for (let each = 0; each < HERD; each++) {
      const x = Math.floor((Math.random() - 0.5) * 48)
      const z = Math.floor((Math.random() - 0.5) * 48)
      const name = ANIMALS[each % ANIMALS.length]
      const place = new Vec3(x + 0.5, height(seed, x, z) + 1, z + 0.5)
      const animal = serv.spawnMob(registry.entitiesByName[name].id, world, place)
      animal.health = HEALTH[name]
    }
  }
}

module.exports.player = function (player, serv) {
  player.on('asap', () => serv.game.join(player))
}
