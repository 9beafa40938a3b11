"""Asks Muster questions in one conversation: python3 ask_muster.py QUESTION..."""
import json
import subprocess
import sys


class Muster:
    def __init__(self, *flags):
        streams = ["--input-format", "stream-json", "--output-format", "stream-json"]
        self.process = subprocess.Popen(
            ["muster", "-p", *streams, *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        )

    def write(self, **line):
        print(json.dumps(line), file=self.process.stdin, flush=True)

    def ask(self, text, answer=lambda question: "no"):
        """Sends a message and returns the answer. `answer` decides about calls that need a permission."""
        self.write(type="user", text=text)
        for line in self.process.stdout:
            event = json.loads(line)
            if event["type"] == "question.asked":
                question = event["question"]
                self.write(type="answer", question=question["id"], text=answer(question))
            elif event["type"] == "error":
                raise RuntimeError(event["error"]["message"])
            elif event["type"] == "result":
                return event["data"]["result"]
        raise RuntimeError("muster has ended")

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


if __name__ == "__main__":
    muster = Muster()
    for question in sys.argv[1:]:
        print(f"> {question}\n{muster.ask(question)}")
    sys.exit(muster.close())
