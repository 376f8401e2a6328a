'use strict'
// The embedded server: flying-squid with this project's plugin, in memory, on loopback alone.

const path = require('path')

const VERSION = '1.16.5'
const FOR_EVER = 2 ** 31 - 1

// Starts it; resolves to {port, close} once it listens. `pass` lets a tick go by.
async function embedded ({ seed, tables, pass }) {
  const { createMCServer } = require('flying-squid')
  const serv = createMCServer({
    version: VERSION,
    host: '127.0.0.1',
    port: 0,
    motd: 'mineevolve',
    'max-players': 1,
    'online-mode': false,
    'everybody-op': false,
    'max-entities': 1000,
    'view-distance': 5,
    'player-list-text': { header: { text: '' }, footer: { text: '' } },
    logging: false,
    noConsoleOutput: true,
    gameMode: 0,
    difficulty: 1,
    // The clock goes faster than anybody answers.
    kickTimeout: FOR_EVER,
    keepAlive: false,
    generation: { name: path.join(__dirname, 'game', 'ground.js'), options: { seed } },
    plugins: { [path.join(__dirname, 'game', 'plugin.js')]: {} },
    game: { tables, seed }
  })
  serv.on('error', error => console.error(error))
  serv.on('clientError', (client, error) => console.error(error))
  while (!serv.isReady) await pass()
  return { port: serv.listeningPort, close: () => serv.destroy() }
}

module.exports = { embedded, VERSION, FOR_EVER }
