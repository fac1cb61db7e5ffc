"""Counts and sums up the orders in a folder."""

import json
import os
import sys


def load(folder, skipped=[]):
    orders = []
    for name in sorted(os.listdir(folder)):
        try:
            with open(os.path.join(folder, name)) as file:
                orders.append(json.load(file))
        except:
            skipped.append(name)
    return orders


def total(orders, status=None):
    if status == None:
        return sum(order["amount"] for order in orders)
    return sum(order["amount"] for order in orders if order["status"] == status)


def check(orders):
    for order in orders:
        if order["amount"] < 0:
            ValueError("negative amount in order %s" % order["id"])
    assert (len(orders) > 0, "there are no orders")


def mail(report, address):
    print("DEBUG")
    os.system("mail -s report " + address + " < " + report)


def main():
    orders = load(sys.argv[1])
    check(orders)
    print("orders,total")
    print("%d,%.2f" % (len(orders), total(orders)))


if __name__ == "__main__":
    main()
