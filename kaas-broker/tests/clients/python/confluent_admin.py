"""confluent-kafka's admin client: confluent_admin.py BOOTSTRAP TOPIC"""

import os
import sys
import time

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource, NewPartitions, NewTopic,
                                   OffsetSpec)

bootstrap, topic = sys.argv[1:]
admin = AdminClient({"bootstrap.servers": bootstrap})


def result(futures):
    """The result of the only future in a dictionary."""
    (future,) = futures.values()
    value = future.result(30)
    # Apache Kafka answers a little before all of it knows what has changed.
    time.sleep(1 if os.environ.get("KAAS_TEST_BROKER") == "apache" else 0)
    return value


result(admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1, config={"cleanup.policy": "compact"})]))
try:
    result(admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)]))
    sys.exit("a topic was created twice")
except KafkaException as refused:
    assert refused.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS, refused
try:
    result(admin.create_topics([NewTopic(topic + "-bad", num_partitions=1, config={"retention.ms": "soon"})]))
    sys.exit("an invalid setting was taken")
except KafkaException as refused:
    assert refused.args[0].code() == KafkaError.INVALID_CONFIG, refused

result(admin.create_partitions([NewPartitions(topic, 3)]))
assert len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == 3

resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
configs = result(admin.describe_configs([resource]))
assert configs["cleanup.policy"].value == "compact", configs["cleanup.policy"]
assert configs["cleanup.policy"].source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value, configs["cleanup.policy"].source
assert configs["segment.bytes"].source == ConfigSource.DEFAULT_CONFIG.value, configs["segment.bytes"].source
resource.add_incremental_config(ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET))
resource.add_incremental_config(ConfigEntry("retention.ms", "86400000", incremental_operation=AlterConfigOpType.SET))
result(admin.incremental_alter_configs([resource]))
configs = result(admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]))
assert (configs["cleanup.policy"].value, configs["retention.ms"].value) == ("delete", "86400000")

producer = Producer({"bootstrap.servers": bootstrap})
for number in range(10):
    producer.produce(topic, value=str(number), partition=1)
assert producer.flush(30) == 0

partition = TopicPartition(topic, 1)
assert result(admin.list_offsets({partition: OffsetSpec.latest()})).offset == 10
assert result(admin.delete_records([TopicPartition(topic, 1, 4)])).low_watermark == 4
assert result(admin.list_offsets({partition: OffsetSpec.earliest()})).offset == 4

cluster = admin.describe_cluster(request_timeout=10).result(30)
assert [f"{node.host}:{node.port}" for node in cluster.nodes] == [bootstrap], cluster.nodes
assert cluster.controller.id == cluster.nodes[0].id

described = admin.describe_topics(TopicCollection([topic]))
assert len(result(described).partitions) == 3

result(admin.delete_topics([topic]))
assert topic not in admin.list_topics(timeout=10).topics
