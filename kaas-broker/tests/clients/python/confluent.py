"""confluent-kafka: confluent.py produce|transact|consume|group bootstrap=… topic=… [count=…] [group=…] [compression=…] [pace=seconds between records] [any librdkafka setting]"""

import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

import lines


def produce(bootstrap, topic, compression="none", pace="0", **settings):
    failures = []
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": compression, "linger.ms": 5, **settings})

    def delivered(error, _message):
        if error is not None:
            failures.append(error)

    for key, value in lines.records():
        producer.produce(topic, key=key, value=value, partition=0, on_delivery=delivered)
        producer.poll(float(pace))
    if producer.flush(60) != 0:
        sys.exit("not all records were answered within a minute")
    if failures:
        sys.exit(f"{len(failures)} records failed, the first with {failures[0]}")


def transact(bootstrap, topic, group):
    """Sends all records in transactions: first in one that is aborted, then in one that commits, together with a group's offset."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    metadata = Consumer({"bootstrap.servers": bootstrap, "group.id": group}).consumer_group_metadata()
    records = list(lines.records())
    for at in range(0, len(records), 20):
        for end in (producer.abort_transaction, producer.commit_transaction):
            producer.begin_transaction()
            for key, value in records[at:at + 20]:
                producer.produce(topic, key=key, value=value, partition=0)
            producer.flush(30)
            producer.send_offsets_to_transaction([TopicPartition(topic, 0, at + 20)], metadata, 30)
            end(30)


def consume(bootstrap, topic, count, **settings):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, **settings})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    missing = int(count)
    while missing > 0:
        message = consumer.poll(30)
        if message is None:
            sys.exit(f"{missing} records are missing")
        if message.error():
            sys.exit(str(message.error()))
        lines.show(message.key(), message.value())
        missing -= 1
    consumer.close()


def group(bootstrap, topic, count, group, **settings):
    """Consumes as a member of a group and commits each record."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest", **settings,
    })
    consumer.subscribe([topic])
    missing = int(count)
    while missing > 0:
        message = consumer.poll(30)
        if message is None:
            sys.exit(f"{missing} records are missing")
        if message.error():
            sys.exit(str(message.error()))
        lines.show(message.key(), message.value())
        consumer.commit(message, asynchronous=False)
        missing -= 1
    consumer.close()


{"produce": produce, "transact": transact, "consume": consume, "group": group}[sys.argv[1]](**lines.arguments())
