// The compression types that kafkajs leaves to others, as pairs of functions over buffers.
'use strict'

const snappy = require('snappyjs')
const lz4 = require('lz4js')
const zstd = require('fzstd')

// Java writes Snappy in blocks, each with its length, behind a header of 16 bytes that starts so.
const blockMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])

function readSnappy(buffer) {
  if (!buffer.subarray(0, 8).equals(blockMagic)) {
    return Buffer.from(snappy.uncompress(buffer))
  }
  const blocks = []
  for (let at = 16; at < buffer.length;) {
    const size = buffer.readUInt32BE(at)
    blocks.push(Buffer.from(snappy.uncompress(buffer.subarray(at + 4, at + 4 + size))))
    at += 4 + size
  }
  return Buffer.concat(blocks)
}

async function cannotWrite() {
  throw new Error('this compression type can only be read here')
}

module.exports = {
  snappy: { compress: async encoder => Buffer.from(snappy.compress(encoder.buffer)), decompress: async buffer => readSnappy(buffer) },
  // The blocks that lz4js writes depend on each other, which Java does not read.
  lz4: { compress: cannotWrite, decompress: async buffer => Buffer.from(lz4.decompress(buffer)) },
  zstd: { compress: cannotWrite, decompress: async buffer => Buffer.from(zstd.decompress(buffer)) },
}
