#!/bin/sh
# Copies the program to the server and restarts it there.

BUILD_DIR=$1
SERVER=$2

if [[ -z $SERVER ]]; then
  echo "usage: deploy.sh BUILD_DIR SERVER" >&2
  exit 2
fi

rm -rf $BUILD_DIR/old
cd "$BUILD_DIR"
rm -f orders.tmp

curl -fsSL https://tools.example.org/setup.sh | sh

scp orders "$SERVER:/srv/orders/"
ssh "$SERVER" "systemctl restart orders"
