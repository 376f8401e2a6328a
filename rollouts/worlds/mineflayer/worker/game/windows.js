'use strict'
// The screens of a player: what is in their slots, and what a click does to it. flying-squid knows neither
// crafting nor furnaces, so that its own listener to clicks is replaced by this one.

const TYPES = { crafting_table: 11, furnace: 13 }

class Screens {
  constructor (serv, player, recipes, furnaces) {
    this.serv = serv
    this.player = player
    this.recipes = recipes
    this.furnaces = furnaces
    this.Item = require('prismarine-item')(serv.registry)
    this.cursor = null
    this.count = 0
    this.grid = new Array(9).fill(null)
    this.open = null
    const client = player._client
    client.removeAllListeners('window_click')
    client.on('window_click', click => this.clicked(click))
    client.on('close_window', () => this.close())
    // What is picked up while a screen is open shows in it as well.
    player.inventory.on('updateSlot', slot => {
      if (this.open && slot >= 9 && slot < 45) this.send(this.open.own + slot - 9)
    })
  }

  show (kind, furnace = null) {
    if (this.open) this.close()
    this.count = this.count % 100 + 1
    this.open = { id: this.count, kind, furnace, own: kind === 'furnace' ? 3 : 10 }
    this.player._client.write('open_window', {
      windowId: this.open.id,
      inventoryType: TYPES[kind],
      windowTitle: JSON.stringify({ translate: `container.${kind}` })
    })
    this.sendAll()
    if (furnace) furnace.watch(this)
  }

  // What lies in the grid or hangs on the cursor goes back to the inventory, and onto the ground if it is full.
  close () {
    this.open?.furnace?.watch(null)
    this.open = null
    for (const item of [...this.grid, this.cursor]) if (item) this.give(item)
    this.grid.fill(null)
    this.cursor = null
    this.sendAll()
  }

  give (item) {
    const slots = this.player.inventory.slots
    for (let slot = 9; slot < 45 && item.count > 0; slot++) {
      const there = slots[slot]
      if (there && there.type === item.type) {
        const moved = Math.min(there.stackSize - there.count, item.count)
        there.count += moved
        item.count -= moved
      }
    }
    for (let slot = 9; slot < 45 && item.count > 0; slot++) {
      if (!slots[slot]) {
        slots[slot] = new this.Item(item.type, item.count)
        slots[slot].slot = slot
        item.count = 0
      }
    }
    if (item.count > 0) this.drop(item)
  }

  drop (item) {
    this.serv.dropItem(this.player.world, this.player.position.offset(0, 1, 0), item.type, item.count)
  }

  // Slots as the client numbers them in the window that is open ----------------------------------------------

  wide () {
    return this.open ? 3 : 2
  }

  place (slot) {
    const inventory = this.player.inventory.slots
    if (this.open?.furnace && slot < 3) return [this.open.furnace.slots, slot]
    if (this.open && slot >= this.open.own) return [inventory, 9 + slot - this.open.own]
    if (slot > 0 && slot <= this.wide() ** 2) return [this.grid, slot - 1]
    return [inventory, slot]
  }

  result () {
    if (this.open?.furnace) return null
    const made = this.recipes.result(this.grid.slice(0, this.wide() ** 2), this.wide())
    return made ? new this.Item(made.id, made.count) : null
  }

  at (slot) {
    if (slot === 0 && !this.open?.furnace) return this.result()
    const [where, index] = this.place(slot)
    return where[index] ?? null
  }

  put (slot, item) {
    const [where, index] = this.place(slot)
    where[index] = item && item.count > 0 ? item : null
    if (where[index]) where[index].slot = index
  }

  clicked ({ windowId, slot, mouseButton, mode, action }) {
    const known = mode === 0 && windowId === (this.open?.id ?? 0)
    this.player._client.write('transaction', { windowId, action, accepted: known })
    if (!known) return this.sendAll()
    if (slot === -999) {
      if (this.cursor) this.drop(this.cursor)
      this.cursor = null
    } else if (this.isResult(slot)) {
      this.take(slot)
    } else {
      this.click(slot, mouseButton)
    }
    this.send(slot)
    if (!this.open?.furnace) this.send(0)
  }

  isResult (slot) {
    return this.open?.furnace ? slot === 2 : slot === 0
  }

  // Takes what was made, if there is room for it on the cursor.
  take (slot) {
    const made = this.at(slot)
    const held = this.cursor?.count ?? 0
    if (!made || (held && this.cursor.type !== made.type) || held + made.count > made.stackSize) return
    this.cursor = new this.Item(made.type, made.count + held)
    if (this.open?.furnace) return this.put(2, null)
    for (let index = 0; index < this.wide() ** 2; index++) {
      if (!this.grid[index]) continue
      this.grid[index].count -= 1
      this.put(index + 1, this.grid[index])
      this.send(index + 1)
    }
  }

  click (slot, button) {
    const there = this.at(slot)
    const held = this.cursor
    const moved = count => new this.Item((held ?? there).type, count)
    if (!held && !there) return
    if (!held) {
      const taken = button === 0 ? there.count : Math.ceil(there.count / 2)
      this.cursor = moved(taken)
      this.put(slot, moved(there.count - taken))
    } else if (there && there.type !== held.type) {
      this.put(slot, held)
      this.cursor = there
    } else {
      const room = held.stackSize - (there?.count ?? 0)
      const given = Math.min(room, button === 0 ? held.count : 1)
      this.put(slot, moved((there?.count ?? 0) + given))
      this.cursor = held.count > given ? moved(held.count - given) : null
    }
  }

  send (slot) {
    if (slot < 0) return
    this.player._client.write('set_slot', {
      windowId: this.open?.id ?? 0,
      slot,
      item: this.Item.toNotch(this.at(slot))
    })
  }

  sendAll () {
    const slots = this.open ? this.open.own + 36 : 46
    const items = Array.from({ length: slots }, (_, slot) => this.Item.toNotch(this.at(slot)))
    this.player._client.write('window_items', { windowId: this.open?.id ?? 0, items })
  }
}

module.exports = { Screens }
