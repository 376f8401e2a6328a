'use strict'
// Ends this process when its parent is gone, however busy it is: a loop that never ends does not see the end of stdin.

const { Worker, isMainThread, workerData } = require('worker_threads')

const LOOK_MS = 1000

// To be called once, on the main thread.
function watch () {
  new Worker(__filename, { workerData: process.ppid }).unref()
}

if (!isMainThread && workerData !== null) {
  setInterval(() => {
    if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
  }, LOOK_MS)
}

module.exports = { watch }
