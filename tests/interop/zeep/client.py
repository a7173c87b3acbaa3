"""zeep against the service: both port types, simple and MTOM, properties, faults. Prints a line for each thing that
works; the first that does not ends it with an error."""

import sys

import requests
import zeep
from lxml import etree

BASE = sys.argv[1]
CONTENT = open(sys.argv[2], "rb").read()
BYTEIO = "http://schemas.ggf.org/byteio/2005/10/byte-io"
RANDOM = "http://schemas.ggf.org/byteio/2005/10/random-access"
STREAM = "http://schemas.ggf.org/byteio/2005/10/streamable-access"
MECHANISM = "http://schemas.ggf.org/byteio/2005/10/transfer-mechanisms/"
ORIGIN = "http://schemas.ggf.org/byteio/2005/10/streamable-access/seek-origins/"

client = zeep.Client(BASE + "?wsdl")
data_element = client.get_element("{%s}data" % BYTEIO)


def service(kind, address=BASE):
    return client.create_service("{%s}%sBinding" % (RANDOM, kind), address)


def transfer(mechanism, data=None):
    value = {"transfer-mechanism": MECHANISM + mechanism}
    if data is not None:
        value["_value_1"] = [zeep.xsd.AnyObject(data_element, data)]
    return value


def payload(answer):
    found = answer["_value_1"]
    if not found:
        return b""
    one = found[0]
    while not isinstance(one, (bytes, type(None))):
        one = one["_value_1"] if hasattr(one, "__getitem__") and not isinstance(one, etree._Element) else one.text.encode()
    return one or b""


def expect(name, found, wanted):
    if found != wanted:
        raise SystemExit("%s: %r is not %r" % (name, found, wanted))
    print("ok", name, flush=True)


def fault(name, call, wanted):
    try:
        call()
    except zeep.exceptions.Fault as error:
        detail = error.detail[0].tag if error.detail is not None and len(error.detail) else ""
        expect(name, etree.QName(detail).localname if detail else "", wanted)
    else:
        raise SystemExit(name + ": no fault")


random = service("RandomByteIO")
for mechanism in ("simple", "mtom"):
    expect("read " + mechanism, payload(random.read(10, 1000, 1, 0, transfer(mechanism))), CONTENT[10:1010])
    expect("large read " + mechanism, payload(random.read(0, len(CONTENT), 1, 0, transfer(mechanism))), CONTENT)
    strided = CONTENT[0:3] + CONTENT[7:10] + CONTENT[14:17]
    expect("strided read " + mechanism, payload(random.read(0, 3, 3, 7, transfer(mechanism))), strided)
    expect("short read " + mechanism, payload(random.read(len(CONTENT) - 5, 100, 1, 0, transfer(mechanism))), CONTENT[-5:])
    expect("read beyond the end " + mechanism, payload(random.read(len(CONTENT) + 5, 100, 1, 0, transfer(mechanism))), b"")

new = service("RandomByteIO", BASE + "-zeep")
new.truncAppend(0, transfer("simple", b"0123456789"))
new.write(2, 2, 4, transfer("simple", b"abcd"))
new.append(transfer("simple", b"end"))
expect("write, append, truncAppend", payload(new.read(0, 100, 1, 0, transfer("mtom"))), b"01ab45cd89end")
fault("unknown resource", lambda: service("RandomByteIO", BASE + "-none").read(0, 1, 1, 0, transfer("simple")), "ResourceUnknownFault")
fault("unknown mechanism", lambda: random.read(0, 1, 1, 0, transfer("carrier-pigeon")), "UnsupportedTransferFault")
fault("absurd read", lambda: random.read(0, 2**31 - 1, 2**31 - 1, 0, transfer("simple")), "CustomFault")

answer = random.GetResourceProperty(etree.QName(RANDOM, "Size"))
size = answer["_value_1"][0] if isinstance(answer, dict) or hasattr(answer, "_value_1") else answer[0]
expect("property Size", int(size.text), len(CONTENT))

# The address of a stream is in an endpoint reference, which zeep hands over as elements.
endpoint = random.openStream()
parts = endpoint["_value_1"] if hasattr(endpoint, "_value_1") or isinstance(endpoint, dict) else endpoint
address = [p.text for p in parts if isinstance(p, etree._Element) and p.tag.endswith("Address")][0]
stream = service("StreamableByteIO", address)
expect("seekRead beginning", payload(stream.seekRead(5, ORIGIN + "beginning", 10, transfer("mtom"))), CONTENT[5:15])
expect("seekRead current", payload(stream.seekRead(5, ORIGIN + "current", 10, transfer("simple"))), CONTENT[20:30])
expect("seekRead end", payload(stream.seekRead(-7, ORIGIN + "end", 10, transfer("mtom"))), CONTENT[-7:])
fault("seek before the start", lambda: stream.seekRead(-1, ORIGIN + "beginning", 1, transfer("simple")), "SeekNotPermittedFault")

expect("plain ranges", requests.get(BASE, headers={"Range": "bytes=3-6"}, timeout=10).content, CONTENT[3:7])
print("all ok")
