'use strict'
// What a crafting grid holds -> what comes of it, by the recipes of minecraft-data.

function idOf (entry) {
  return entry == null || entry === -1 ? 0 : typeof entry === 'object' ? entry.id : entry
}

// The rows of a shape without empty edges, as a key.
function shaped (rows) {
  const filled = rows.map(row => row.map(idOf))
  const used = filled.flatMap((row, y) => row.flatMap((id, x) => (id > 0 ? [[x, y]] : [])))
  if (!used.length) return ''
  const [xs, ys] = [used.map(([x]) => x), used.map(([, y]) => y)]
  const [left, right] = [Math.min(...xs), Math.max(...xs)]
  const out = []
  for (let y = Math.min(...ys); y <= Math.max(...ys); y++) {
    const row = []
    for (let x = left; x <= right; x++) row.push(Math.max(filled[y][x] ?? 0, 0))
    out.push(row.join(','))
  }
  return out.join('/')
}

class Recipes {
  constructor (registry) {
    this.shapes = new Map()
    this.heaps = new Map()
    for (const each of Object.values(registry.recipes).flat()) {
      if (each.inShape) {
        this.shapes.set(shaped(each.inShape), each.result)
        const wide = Math.max(...each.inShape.map(row => row.length))
        const mirrored = each.inShape.map(row => Array.from({ length: wide }, (_, x) => row[wide - 1 - x] ?? null))
        if (!this.shapes.has(shaped(mirrored))) this.shapes.set(shaped(mirrored), each.result)
      } else {
        this.heaps.set(each.ingredients.map(idOf).sort((a, b) => a - b).join(','), each.result)
      }
    }
  }

  // {id, count} for a grid of items, row by row, or null.
  result (items, wide) {
    const rows = []
    for (let start = 0; start < items.length; start += wide) {
      rows.push(items.slice(start, start + wide).map(item => item?.type ?? 0))
    }
    const heap = items.filter(Boolean).map(item => item.type).sort((a, b) => a - b).join(',')
    return this.shapes.get(shaped(rows)) ?? this.heaps.get(heap) ?? null
  }
}

module.exports = { Recipes }
