'use strict'
// One episode's world in a process of its own. Requests come as JSON lines on stdin, one at a time, and are
// answered in their order on stdout; a line {"beat": n} in between says that this process is alive:
//
//   {"id": 1, "op": "begin", ...settings}   ->  {"id": 1, "palette": [...], "last": [...], "now": {...}}
//   {"id": 2, "op": "step", "ticks": 20, "errand": {...} | null, "keys": {...}}
//                                           ->  {"id": 2, "ticks": [...], "events": [...], "changes": [...], "now": {...}}
//   anything that went wrong with the world ->  {"id": 2, "error": "..."}; the process ends after it
//
// It ends when its stdin does, or its parent. docs/worlds.md says what the fields are.

const readline = require('readline')
const { Readable } = require('stream')
const { Clock, WallClock, real } = require('./clock')
const { stream } = require('./random')
const { watch } = require('./watchdog')

const BEAT_MS = 1000
const MOST_SILENT = 400

// What the game's packages print is no answer, and what is asked is no command for their console.
const requests = process.stdin
const answer = process.stdout.write.bind(process.stdout)
process.stdout.write = (...what) => process.stderr.write(...what)
Object.defineProperty(process, 'stdin', { value: Readable.from([]) })

const send = message => answer(`${JSON.stringify(message)}\n`)

class Worker {
  async begin (settings) {
    this.clock = settings.embedded ? new Clock(settings.speed) : new WallClock()
    this.clock.install()
    Math.random = stream(settings.seed)
    const bytes = () => {
      const socket = this.player?.bot._client?.socket
      return socket ? socket.bytesRead + socket.bytesWritten : 0
    }
    const pass = () => this.clock.pass(bytes)
    const { embedded } = require('./server')
    const { Player } = require('./player')
    const { Errands } = require('./errands')
    const where = settings.embedded
      ? { host: '127.0.0.1', port: (await embedded({ seed: settings.seed, tables: settings.tables, pass })).port }
      : {}
    this.player = new Player({ ...settings, ...where }, pass)
    await this.player.arrive()
    for (const line of settings.commands ?? []) {
      this.player.bot.chat(line)
      for (let tick = 0; tick < 5; tick++) await pass()
    }
    this.errands = new Errands(this.player)
    while (!this.player.rows.length) await pass()
    const reply = { palette: this.player.view.palette, last: this.player.rows.at(-1), now: this.now() }
    this.clear()
    return reply
  }

  // So many ticks at most: fewer when something happened that is worth a look.
  async step ({ ticks, errand, keys }) {
    const { player, errands } = this
    if (errand) {
      if (errands.follow(errand)) this.skip()
    } else {
      errands.stop()
      player.steer(keys ?? {})
    }
    const gui = player.gui
    const busy = errands.busy
    let silent = 0
    let seen = 0
    while (player.rows.length < ticks) {
      await player.pass()
      if (player.lost) throw new Error(player.lost)
      silent = player.rows.length > seen ? 0 : silent + 1
      seen = player.rows.length
      if (silent > MOST_SILENT) throw new Error('the physics of the player stand still')
      const noted = player.events.length || player.changes.length || player.gui !== gui || errands.busy !== busy
      if (player.rows.length && noted) break
    }
    const last = player.rows.length - 1
    const clamped = rows => rows.map(([at, ...rest]) => [Math.min(at, last), ...rest])
    const reply = {
      ticks: player.rows, events: clamped(player.events), changes: clamped(player.changes), now: this.now()
    }
    this.clear()
    return reply
  }

  // On a server of its own the game goes on while nobody asks: those ticks belong to no errand, and what happened in
  // them is told with the first tick of the next.
  skip () {
    const { player } = this
    player.rows = []
    for (const told of [...player.events, ...player.changes]) told[0] = 0
  }

  clear () {
    this.player.rows = []
    this.player.events = []
    this.player.changes = []
  }

  now () {
    const { player, errands } = this
    const window = player.view.look()
    const sent = window === this.sent
    this.sent = window
    return {
      inventory: player.held,
      busy: errands.busy,
      window: sent ? null : { origin: window.origin.toArray(), size: window.size, blocks: encoded(window.blocks) },
      entities: player.crowd().map(each => [each.name, ...each.position.toArray()])
    }
  }
}

function encoded (blocks) {
  return Buffer.from(blocks.buffer).toString('base64')
}

function failed (id, error) {
  send({ id, error: `${error.name ?? 'Error'}: ${error.message ?? error}` })
  console.error(error)
  process.exitCode = 1
  real.setTimeout(() => process.exit(1), 50)
}

watch()
const worker = new Worker()
let current = null
let queue = Promise.resolve()
let beats = 0
real.setInterval(() => send({ beat: ++beats }), BEAT_MS)
process.on('uncaughtException', error => failed(current, error))
process.on('unhandledRejection', error => console.error('unhandled', error))
const lines = readline.createInterface({ input: requests })
lines.on('line', line => {
  queue = queue.then(async () => {
    const { id, op, ...request } = JSON.parse(line)
    current = id
    const reply = op === 'begin' ? await worker.begin(request) : await worker.step(request)
    send({ id, ...reply })
    current = null
  }).catch(error => failed(current, error))
})
lines.on('close', () => process.exit(0))
