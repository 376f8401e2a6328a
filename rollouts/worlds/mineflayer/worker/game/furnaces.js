'use strict'
// Furnaces: they burn whether or not somebody looks.

const SMELT_TICKS = 200

class Furnace {
  constructor (Item, registry, tables) {
    this.Item = Item
    this.registry = registry
    this.tables = tables
    this.slots = [null, null, null]
    this.left = 0
    this.whole = 0
    this.done = 0
    this.screens = null
  }

  watch (screens) {
    this.screens = screens
    if (screens) this.tell()
  }

  product () {
    const name = this.slots[0] && this.tables.smelting[this.slots[0].name]
    const id = name && this.registry.itemsByName[name]?.id
    const out = this.slots[2]
    return id && (!out || (out.type === id && out.count < out.stackSize)) ? id : null
  }

  tick () {
    const before = this.state()
    if (this.left > 0) this.left -= 1
    const product = this.product()
    if (product && this.left <= 0) this.kindle()
    if (product && this.left > 0) {
      this.done += 1
      if (this.done >= SMELT_TICKS) {
        this.slots[2] = new this.Item(product, 1 + (this.slots[2]?.count ?? 0))
        this.use(0)
        this.done = 0
      }
    } else {
      this.done = 0
    }
    if (this.screens && this.state() !== before) {
      for (const slot of [0, 1, 2]) this.screens.send(slot)
      this.tell()
    }
  }

  kindle () {
    const worth = this.slots[1] && this.tables.fuels[this.slots[1].name]
    if (!worth) return
    this.left = this.whole = Math.round(worth * SMELT_TICKS)
    this.use(1)
  }

  use (slot) {
    const { type, count } = this.slots[slot]
    this.slots[slot] = count > 1 ? new this.Item(type, count - 1) : null
  }

  state () {
    return this.slots.map(item => item && `${item.name}${item.count}`).join()
  }

  tell () {
    const { player, open } = this.screens
    const values = [this.left, this.whole, this.done, SMELT_TICKS]
    values.forEach((value, property) => {
      player._client.write('craft_progress_bar', { windowId: open.id, property, value })
    })
  }
}

module.exports = { Furnace }
