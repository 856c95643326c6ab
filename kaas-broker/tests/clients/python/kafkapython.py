"""kafka-python: kafkapython.py produce|consume bootstrap=… topic=… [count=…] [compression=…] [version=0.10.1]"""

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

import lines


def api_version(text):
    return tuple(int(part) for part in text.split(".")) if text else None


def produce(bootstrap, topic, compression="none", version=None):
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", api_version=api_version(version),
                             compression_type=None if compression == "none" else compression)
    sent = [producer.send(topic, key=key, value=value, partition=0) for key, value in lines.records()]
    for future in sent:
        future.get(60)
    producer.close()


def consume(bootstrap, topic, count, version=None):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, api_version=api_version(version), consumer_timeout_ms=30_000)
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek_to_beginning()
    missing = int(count)
    for message in consumer:
        lines.show(message.key, message.value)
        missing -= 1
        if missing == 0:
            break
    consumer.close()
    if missing:
        sys.exit(f"{missing} records are missing")


{"produce": produce, "consume": consume}[sys.argv[1]](**lines.arguments())
