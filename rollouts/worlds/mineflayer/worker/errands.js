'use strict'
// One errand at a time, until it is done, given up or replaced.

const { Hands, Stopped } = require('./hands')

const KINDS = { ...require('./gathering'), ...require('./making'), ...require('./using') }

class Errands {
  constructor (player) {
    this.player = player
    this.hands = null
    this.number = null
    this.busy = false
  }

  // Begins an errand that is not under way yet, and says whether it does; `number` tells them apart.
  follow (errand) {
    if (errand.number === this.number) return false
    this.stop()
    this.number = errand.number
    const hands = this.hands = new Hands(this.player, errand)
    this.busy = true
    KINDS[errand.kind](hands, errand).catch(error => {
      if (error instanceof Stopped || hands.off || !this.player.alive) return
      this.player.tell('error', errand.target, { text: String(error.message ?? error) })
      console.error(error)
    }).then(() => { if (this.hands === hands) this.busy = false })
    return true
  }

  stop () {
    this.hands?.stop()
    this.hands = null
    this.busy = false
  }
}

module.exports = { Errands }
