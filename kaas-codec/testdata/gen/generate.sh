#!/usr/bin/env bash
# generate.sh: writes the golden messages and batches anew with the classes of Apache Kafka. `make golden` calls it.
# INTO  the folder for what Maven builds (default target beside this script)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
into=${INTO:-$here/target}
golden=$here/../golden

build() { # RELEASE SOURCES
  mvn -q -B -f "$here/pom.xml" -Dkafka.version="$1" -Dsources="$2" -Dinto="$into/$1" compile dependency:copy-dependencies
}

run() { # RELEASE CLASS ARGUMENT...
  local release=$1
  shift
  java -cp "$into/$release/classes:$into/$release/libraries/*" "$@"
}

write() { # FILE RELEASE ARGUMENT...
  local file=$1 release=$2
  shift 2
  run "$release" GoldenMessages "$@" >"$into/written"
  mv "$into/written" "$golden/$file-$release.txt"
}

build 3.7.2 '*.java'
build 4.3.1 GoldenMessages.java
write core 3.7.2 write 0 1 2 3 18 19 20 21 22 23 32 37 44 60
write groups 3.7.2 write 8 9 10 11 12 13 14 15 16 42 47
write transactions 3.7.2 write 24 25 26 27 28 61 65 66
write volumes 3.7.2 write 34 35
write admin 3.7.2 write 17 29 30 31 33 36 43 45 46 48 49 50 51 55 57 64 74
write versions 3.7.2 versions
write core 4.3.1 write 60 75
run 3.7.2 GoldenBatches "$here/../../batch/testdata/golden"
