'use strict'
// The embedded server in a process of its own, at the game's own speed: somebody's server, for tests. Its tables come
// as JSON on stdin; it says its port, and goes on until it is ended.

const path = require('node:path')

const worker = path.join(__dirname, '..', 'rollouts', 'worlds', 'mineflayer', 'worker')
const { embedded } = require(path.join(worker, 'server.js'))

const chunks = []
process.stdin.on('data', chunk => chunks.push(chunk))
process.stdin.on('end', async () => {
  Object.defineProperty(process, 'stdin', { value: require('node:stream').Readable.from([]) })
  const say = process.stdout.write.bind(process.stdout)
  process.stdout.write = (...what) => process.stderr.write(...what)
  const pass = () => new Promise(resolve => setTimeout(resolve, 20))
  const { port } = await embedded({ seed: 5, tables: JSON.parse(Buffer.concat(chunks)), pass })
  say(`${port}\n`)
})
