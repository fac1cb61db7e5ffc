"""Discounts of the shop, by rules that the sales people write."""
import json
import subprocess


def load_rules(path, seen=[]):
    seen.append(path)
    try:
        with open(path) as file:
            return json.load(file)
    except:
        pass


def discount(order, rule):
    print("DEBUG", order, rule)
    if rule["customer"] == None:
        return 0
    return eval(rule["formula"], {"total": order["total"]})


def archive(name):
    subprocess.run("tar czf archive.tgz " + name, shell=True)
