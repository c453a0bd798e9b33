"""Sends standard input to a capability socket and prints what comes back until the end.

ask.py SOCKET             asks from this process
ask.py SOCKET --daemon    forks twice and asks from the process that has lost its parents
ask.py SOCKET --handover  connects, forks and ends; the child asks over its parent's connection
"""

import os
import socket
import sys
import time


def connected(path):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.connect(path)
    return peer


def ask(peer, data, out):
    try:
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # Refused already; what was said can still be read.
    while True:
        try:
            chunk = peer.recv(65536)
        except ConnectionResetError:
            break
        if not chunk:
            break
        os.write(out, chunk)
    os.close(out)


def wait_for_end(parent):
    while os.getppid() == parent:
        time.sleep(0.001)


def relay(answers):
    """What the other process writes is printed by the one that was started."""
    while True:
        chunk = os.read(answers, 65536)
        if not chunk:
            return
        os.write(1, chunk)


def main():
    path = sys.argv[1]
    mode = sys.argv[2] if len(sys.argv) > 2 else ""
    data = sys.stdin.buffer.read()
    if mode == "":
        ask(connected(path), data, 1)
        return
    answers, out = os.pipe()
    if os.fork() > 0:
        os.close(out)
        relay(answers)
        os.wait()
        return
    os.close(answers)
    if mode == "--daemon":
        os.setsid()
        parent = os.getpid()
        if os.fork() > 0:
            os._exit(0)
        wait_for_end(parent)
        ask(connected(path), data, out)
        os._exit(0)
    peer = connected(path)
    parent = os.getpid()
    if os.fork() > 0:
        os._exit(0)
    wait_for_end(parent)
    ask(peer, data, out)
    os._exit(0)


main()
