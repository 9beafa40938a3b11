"""A task list on the command line."""

import argparse
import json
import sys


def main(argv=None):
    parser = argparse.ArgumentParser(prog="todo")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("add").add_argument("text")
    commands.add_parser("list")
    args = parser.parse_args(argv)
    try:
        with open("todo.json") as file:
            items = json.load(file)
    except FileNotFoundError:
        items = []
    if args.command == "add":
        item = {"id": len(items) + 1, "text": args.text, "done": False}
        items.append(item)
        with open("todo.json", "w") as file:
            json.dump(items, file)
        print(item["id"])
    else:
        for item in items:
            print(item["id"], item["text"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
