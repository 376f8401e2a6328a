'use strict'
// What a body needs and suffers: hunger, healing, falling, hits.

const SAFE_FALL = 3
const EXHAUSTED = 4 // the game's unit: so much costs a point of food
const PER_BLOCK = { walk: 0.01, sprint: 0.1 }
const PER_JUMP = 0.05
const PER_DIG = 0.005
const HEAL_TICKS = 80
const EAT_TICKS = 32
const DAMAGE = { wooden_sword: 4, stone_sword: 5, iron_sword: 6, golden_sword: 4, diamond_sword: 7 }
const MAX_PUSH = 70 // entity_velocity holds no more

class Body {
  constructor (serv, player, tables) {
    this.serv = serv
    this.player = player
    this.tables = tables
    this.tired = 0
    this.since = 0
    this.top = null
    this.eating = 0
    this.sprinting = false
    const client = player._client
    client.on('position', now => this.moved(now))
    client.on('position_look', now => this.moved(now))
    client.on('entity_action', ({ actionId }) => {
      if (actionId === 3 || actionId === 4) this.sprinting = actionId === 3
    })
    client.on('use_item', () => { if (this.food()) this.eating = EAT_TICKS })
    client.on('block_dig', ({ status }) => {
      if (status === 2) this.tired += PER_DIG
      if (status === 5) this.eating = 0
    })
    client.on('held_item_slot', () => { this.eating = 0 })
  }

  food () {
    const held = this.player.inventory.slots[36 + this.player.heldItemSlot]
    return held ? this.tables.foods[held.name] : undefined
  }

  moved ({ x, y, z, onGround }) {
    if (this.last) {
      const far = Math.hypot(x - this.last.x, z - this.last.z)
      this.tired += far * (this.sprinting ? PER_BLOCK.sprint : PER_BLOCK.walk)
      if (this.last.onGround && !onGround && y > this.last.y) this.tired += PER_JUMP
    }
    this.last = { x, y, z, onGround }
    this.top = this.top === null ? y : Math.max(this.top, y)
    if (!onGround) return
    const hurt = Math.floor(this.top - y - SAFE_FALL)
    this.top = y
    if (hurt > 0) this.player.updateHealth(Math.max(0, this.player.health - hurt))
  }

  tick () {
    const { player } = this
    if (player.health <= 0) return
    if (this.tired >= EXHAUSTED) {
      this.tired -= EXHAUSTED
      if (player.foodSaturation > 0) player.updateFoodSaturation(Math.max(0, player.foodSaturation - 1))
      else player.updateFood(Math.max(0, player.food - 1))
    }
    this.since += 1
    if (this.since >= HEAL_TICKS) {
      this.since = 0
      if (player.food >= 18 && player.health < 20) {
        player.updateHealth(player.health + 1)
        this.tired += 6
      } else if (player.food <= 0 && player.health > 1) {
        player.updateHealth(player.health - 1)
      }
    }
    if (this.eating > 0 && --this.eating === 0) this.eat()
  }

  eat () {
    const { player } = this
    const slot = 36 + player.heldItemSlot
    const held = player.inventory.slots[slot]
    const points = this.food()
    if (!held || points === undefined) return
    player._client.write('entity_status', { entityId: player.id, entityStatus: 9 })
    held.count -= 1
    player.inventory.updateSlot(slot, held.count > 0 ? held : null)
    player.updateFood(Math.min(20, player.food + points))
  }
}

// An entity that can be hit, with the game's damage and a push that fits its packet.
function fragile (entity, serv, leave) {
  const hit = entity.takeDamage
  if (!hit) return
  entity.takeDamage = ({ velocity, ...how }) => {
    const attacker = serv.players[0]
    const held = attacker?.inventory.slots[36 + attacker.heldItemSlot]
    const push = velocity?.clone()
    if (push) for (const axis of ['x', 'y', 'z']) push[axis] = Math.max(-MAX_PUSH, Math.min(MAX_PUSH, push[axis]))
    hit({ ...how, damage: DAMAGE[held?.name] ?? 1, ...(push ? { velocity: push } : {}) })
    if (entity.health <= 0 && entity.type === 'mob') leave(entity)
  }
}

module.exports = { Body, fragile }
