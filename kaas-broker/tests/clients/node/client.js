// kafkajs: client.js produce|transact|consume|group|member|admin bootstrap=… topic=… [count=…] [group=…] [compression=…] [idempotent=true]
'use strict'

const assert = require('node:assert')
const readline = require('node:readline')
const { Kafka, CompressionTypes, CompressionCodecs, ConfigResourceTypes, logLevel } = require('kafkajs')
const codecs = require('./codecs')

CompressionCodecs[CompressionTypes.Snappy] = () => codecs.snappy
CompressionCodecs[CompressionTypes.LZ4] = () => codecs.lz4
CompressionCodecs[CompressionTypes.ZSTD] = () => codecs.zstd

const types = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD }

async function produce(kafka, { topic, compression = 'none', idempotent }) {
  const producer = kafka.producer({ idempotent: idempotent === 'true', allowAutoTopicCreation: false })
  await producer.connect()
  const messages = []
  for await (const line of readline.createInterface({ input: process.stdin })) {
    messages.push({ ...JSON.parse(line), partition: 0 })
  }
  for (let at = 0; at < messages.length; at += 100) {
    await producer.send({ topic, compression: types[compression], acks: -1, messages: messages.slice(at, at + 100) })
  }
  await producer.disconnect()
}

// Sends all records in transactions: first in one that is aborted, then in one that commits, together with a group's offset.
async function transact(kafka, { topic, group }) {
  const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true, allowAutoTopicCreation: false })
  await producer.connect()
  const messages = []
  for await (const line of readline.createInterface({ input: process.stdin })) {
    messages.push({ ...JSON.parse(line), partition: 0 })
  }
  for (let at = 0; at < messages.length; at += 20) {
    for (const end of ['abort', 'commit']) {
      const transaction = await producer.transaction()
      await transaction.send({ topic, messages: messages.slice(at, at + 20) })
      await transaction.sendOffsets({ consumerGroupId: group, topics: [{ topic, partitions: [{ partition: 0, offset: String(at + 20) }] }] })
      await transaction[end]()
    }
  }
  await producer.disconnect()
}

// kafkajs itself consumes in groups only. Its connection to a broker is used here instead, so that no group is needed.
async function consume(kafka, { bootstrap, topic, count }) {
  const admin = kafka.admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  assert.strictEqual(offsets[0].partition, 0)

  const broker = await connect(kafka, topic)
  let next = Number(offsets[0].low)
  let missing = Number(count)
  const deadline = Date.now() + 40_000
  while (missing > 0) {
    assert.ok(Date.now() < deadline, `${missing} records are missing`)
    const { responses } = await broker.fetch({
      maxWaitTime: 1000, minBytes: 1, maxBytes: 10 << 20, isolationLevel: 0,
      topics: [{ topic, partitions: [{ partition: 0, fetchOffset: next, maxBytes: 10 << 20 }] }],
    })
    for (const message of responses[0].partitions[0].messages) {
      if (Number(message.offset) < next || missing === 0) {
        continue
      }
      console.log(JSON.stringify({ key: message.key.toString(), value: message.value.toString() }))
      next = Number(message.offset) + 1
      missing -= 1
    }
  }
  await broker.disconnect()
}

// Consumes as a member of a group, and ends when what was read is committed.
async function consumeInGroup(kafka, { topic, group, count }) {
  const consumer = kafka.consumer({ groupId: group, sessionTimeout: 10_000, heartbeatInterval: 500 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  let missing = Number(count)
  await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${missing} records are missing`)), 60_000)
    consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        console.log(JSON.stringify({ key: message.key.toString(), value: message.value.toString() }))
        await consumer.commitOffsets([{ topic, partition, offset: String(Number(message.offset) + 1) }])
        missing -= 1
        if (missing === 0) {
          resolve()
        }
      },
    }).catch(reject)
  })
  await consumer.disconnect()
}

// A member of a group until SIGTERM. It writes partition, offset and a dot for each record before that is committed.
async function stayInGroup(kafka, { topic, group, session }) {
  const consumer = kafka.consumer({ groupId: group, sessionTimeout: Number(session), heartbeatInterval: 300, rebalanceTimeout: 5000, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const terminated = new Promise(resolve => process.once('SIGTERM', resolve))
  await consumer.run({
    autoCommitThreshold: 20,
    autoCommitInterval: 100,
    eachMessage: async ({ partition, message }) => console.log(`${partition} ${message.offset} .`),
  })
  await terminated
  await consumer.disconnect()
}

async function connect(kafka, topic) {
  const createCluster = Object.getOwnPropertySymbols(kafka).map(symbol => kafka[symbol]).find(value => typeof value === 'function')
  const cluster = createCluster.call(kafka, {})
  await cluster.connect()
  await cluster.addTargetTopic(topic)
  const [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [0]))
  return cluster.findBroker({ nodeId: leader })
}

// Apache Kafka answers a little before all of it knows what has changed.
function settle() {
  return new Promise(resolve => setTimeout(resolve, process.env.KAAS_TEST_BROKER === 'apache' ? 1000 : 0))
}

async function administer(kafka, { topic }) {
  const admin = kafka.admin()
  await admin.connect()
  assert.ok(await admin.createTopics({ topics: [{ topic, numPartitions: 2, configEntries: [{ name: 'retention.ms', value: '60000' }] }] }))
  assert.ok(!(await admin.createTopics({ topics: [{ topic, numPartitions: 2 }] })), 'created twice')
  await settle()
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
  await settle()
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  assert.strictEqual(topics[0].partitions.length, 3)
  const { resources } = await admin.describeConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: ['retention.ms'] }] })
  assert.strictEqual(resources[0].configEntries[0].configValue, '60000')
  const { brokers } = await admin.describeCluster()
  assert.strictEqual(brokers.length, 1)
  await admin.deleteTopics({ topics: [topic] })
  await settle()
  assert.ok(!(await admin.listTopics()).includes(topic))
  await admin.disconnect()
}

async function main([verb, ...words]) {
  const settings = Object.fromEntries(words.map(word => word.split(/=(.*)/s).slice(0, 2)))
  const kafka = new Kafka({ brokers: [settings.bootstrap], clientId: 'kaas-test', logLevel: logLevel.ERROR, retry: { retries: 8 } })
  await { produce, transact, consume, group: consumeInGroup, member: stayInGroup, admin: administer }[verb](kafka, settings)
}

main(process.argv.slice(2)).then(() => process.exit(0), error => {
  console.error(error)
  process.exit(1)
})
