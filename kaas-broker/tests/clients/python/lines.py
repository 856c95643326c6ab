"""Arguments and records of the scripts beside this file: key=value words, and one JSON object a line."""

import json
import sys


def arguments():
    """What follows the verb, as a dictionary."""
    return dict(word.split("=", 1) for word in sys.argv[2:])


def records():
    """The records on standard input, as pairs of bytes."""
    for line in sys.stdin:
        record = json.loads(line)
        yield record["key"].encode(), record["value"].encode()


def show(key, value):
    """Writes one record to standard output."""
    print(json.dumps({"key": key.decode(), "value": value.decode()}, ensure_ascii=False))
