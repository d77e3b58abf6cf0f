"""A server that speaks Oracle's protocol (PyPI seerdb), with a made-up database of Rust behind it.

ttc_relay.py FIELD_VERSION RELAY_PORT [CERTIFICATE KEY]: prints the port it listens on, by TLS with a certificate. Each session
is one connection to RELAY_PORT, where each call is a line of JSON and so is its answer.
"""

import json
import re
import socket
import ssl
import sys

import seerdb.server.auth as auth
import seerdb.server.session as session
from seerdb.common import tns_consts as types
from seerdb.server import BackendError, BindVar, Capability, ColumnMeta, Result, Server

FIELD_VERSION, RELAY_PORT = int(sys.argv[1]), int(sys.argv[2])
BIND = re.compile(r":([a-z_]+)")

# The driver knows the verifier of 12c alone.
make_challenge = auth.make_challenge


def challenge_of_12c(password, **how):
    if how.get("field_version", 0) >= auth.FIELD_VERSION_12_1:
        how["verifier_type"] = auth.VFR_12C_SHA2
    return make_challenge(password, **how)


session.make_challenge = challenge_of_12c


def names(sql):
    """Names of bind variables in the order of their first place, literals and comments left out."""
    plain = re.sub(r"'[^']*'|/\*.*?\*/", "", sql, flags=re.S)
    return BIND.findall(plain)


def column(name, values):
    if values and all(value is None or isinstance(value, int) for value in values):
        return ColumnMeta(name=name, data_type=types.TNS_TYPE_NUMBER, data_length=22, max_size=0)
    return ColumnMeta(name=name, data_type=types.TNS_TYPE_VARCHAR, data_length=4000, max_size=4000)


def number(value):
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value) else value


class Relay:
    capabilities = frozenset({Capability.TRANSACTIONS})

    def __init__(self, *_):
        self.file = None

    def authenticate(self, user):
        return {"BENCH": "tiger"}.get(user.upper())

    def call(self, **what):
        if self.file is None:
            self.file = socket.create_connection(("127.0.0.1", RELAY_PORT)).makefile("rw")
        self.file.write(json.dumps(what) + "\n")
        self.file.flush()
        answer = json.loads(self.file.readline())
        if "error" in answer:
            raise BackendError(answer["text"], ora_code=answer["error"])
        return answer

    def execute(self, sql, binds=()):
        plain = [bind.value if isinstance(bind, BindVar) else bind for bind in binds]
        found = names(sql)
        if sql.startswith("/* mindful slice */") or "\nBEGIN" in sql:
            # A block binds each name once.
            found = list(dict.fromkeys(found))
        given = {}
        for name, value in zip(found, plain):
            given[name] = {"hex": bytes(value).hex()} if isinstance(value, (bytes, bytearray)) else value
        if len(found) != len(plain):
            raise BackendError(f"{len(found)} names, {len(plain)} values", ora_code=1008)
        answer = self.call(sql=sql, binds={name: str(v) if isinstance(v, float) else v for name, v in given.items()})
        if "rows" in answer:
            width = max((len(row) for row in answer["rows"]), default=answer["width"])
            rows = [tuple(number(value) for value in row) for row in answer["rows"]]
            of = [[row[at] for row in rows] for at in range(width)]
            rows = [
                tuple(v if all(isinstance(x, (int, type(None))) for x in of[at]) or v is None else str(v)
                      for at, v in enumerate(row))
                for row in rows
            ]
            columns = [column(f"C{at}".encode(), of[at]) for at in range(width)]
            return Result(columns=columns, rows=rows)
        if answer["out"]:
            return Result(out_binds=plain[:-1] + [answer["out"][0]])
        return Result(rowcount=answer["rowcount"], out_binds=plain if "\nBEGIN" in sql else [])

    def commit(self):
        if self.file is not None:
            self.call(sql="commit", binds={})

    def rollback(self):
        pass

    def close(self):
        if self.file is not None:
            self.file.close()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if sys.argv[3:] else None
    if tls:
        tls.load_cert_chain(*sys.argv[3:])
    server = Server(
        port=port, backend_factory=Relay, field_version=FIELD_VERSION, encryption="rejected", ssl_context=tls
    )
    print(port, flush=True)
    server.serve_forever()
