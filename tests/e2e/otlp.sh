#!/bin/bash
# SPDX-License-Identifier: ISC
# weft export --to otlp: spans of traces that otlp.py makes, which has no code of weft's; it checks what is written, too.
. "$(dirname "$0")/lib.sh"
cd "$tmp"
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8

ours() {
    run 0 python3 "$SOURCE_ROOT/tests/e2e/otlp.py" "$@"
}

# exported TRACE: into TRACE.jsonl, which is valid; its lines and spans are in $counted
exported() {
    run 0 "$WEFT" export --to otlp -o "$1.jsonl" "$1"
    silent out
    cp err said
    ours check "$1.jsonl"
    counted=$(cat out)
}

ours make .
exported one.weft
silent said
equal 'lines and spans' '1 13' "$counted"
ours tell one.weft.jsonl
cat >wanted <<'END'
1 'main' 0..1000, trace of 1, span of 1 in none, kind 1, status 0 '', events [], links []
2 'GET /x' 10..60, trace A, span of 2 in .1 elsewhere, kind 2, status 0 '', events ["12 'looks it up'", '13 \'said "\\\\\\t\\x01\\x7f\\u2028é�\''], links ['created by of 1 of 1', 'waits for A of 3']
3 'db' 21..50, trace A, span of 3 in of 2, kind 1, status 2 'refused', events ["50 'exception'"], links []
4 'POST /y' 30..1000, trace A, span .2 in of 2, kind 3, status 0 '', events [], links []
5 'socket' 32..1000, trace A, span of 5 in .2, kind 1, status 0 '', events [], links []
6 'again' 33..1000, trace A, span of 6 in .2, kind 3, status 0 '', events [], links []
7 'http' 40..1000, trace B, span .3 in none, kind 2, status 0 '', events [], links ['caused by A .1', 'created by A of 2']
1099511627776 'far' 43..1000, trace B, span .4 in .5 elsewhere, kind 2, status 0 '', events [], links ['created by B .3']
8 'task' 70..1000, trace of 8, span of 8 in none, kind 1, status 0 '', events [], links ['waits for of 8 of 9', 'waits for A of 2']
9 'task' 71..1000, trace of 8, span of 9 in of 8, kind 1, status 0 '', events [], links []
12 'task' 73..74, trace of 8, span of 12 in of 8, kind 1, status 0 '', events [], links ['became of 8 of 9']
10 'accept' 80..1000, trace of 10, span of 10 in none, kind 1, status 0 '', events [], links []
11 'connection' 82..1000, trace of 11, span of 11 in none, kind 1, status 0 '', events [], links ['created by of 10 of 10']
END
same 'the spans' wanted out

# attribute PROMISE KEY: of a span
attribute() {
    json one.weft.jsonl "next((next(iter(v['value'].values())) for s in d['resourceSpans'][0]['scopeSpans'][0]['spans'] \
        if {'key': 'weft.promise', 'value': {'intValue': '$1'}} in s['attributes'] for v in s['attributes'] if v['key'] == '$2'), None)"
}
equal 'where it was created' '/src/server.c 7' "$(attribute 2 code.file.path) $(attribute 2 code.line.number)"
equal 'a place that is not known' 'None None' "$(attribute 3 code.file.path) $(attribute 3 code.line.number)"
equal 'its thread' '88 main' "$(attribute 2 thread.id) $(attribute 2 thread.name)"
equal 'its type and outcome' 'request fulfilled' "$(attribute 2 weft.type) $(attribute 2 weft.outcome)"
equal 'one that is pending' pending "$(attribute 1 weft.outcome)"
equal 'how long it waited and ran' '0 40' "$(attribute 2 weft.waiting_ns) $(attribute 2 weft.running_ns)"
equal 'the program' "server 77 h" "$(json one.weft.jsonl '" ".join(next(iter(v["value"].values())) for v in d["resourceSpans"][0]["resource"]["attributes"])')"

# Ids that are made are the same every time, and other ones in another trace.
cp one.weft copy.weft
run 0 "$WEFT" export --to otlp -o - copy.weft
same 'two exports' one.weft.jsonl out
sed 's/0123456789abcdef/0123456789abcdeF/g' one.weft >other.weft
exported other.weft
for file in one other; do
    grep -o '"spanId":"[^"]*"' $file.weft.jsonl | grep -v 0000000 | sort -u >$file.ids
done
equal 'ids of another recording' '10 ' "$(wc -l <one.ids) $(comm -12 one.ids other.ids)"

# More than a line has, and than a span may have
exported many.weft
silent said
equal 'lines and spans of many' '4 2999' "$counted"
head -n 1 many.weft.jsonl >first.jsonl
equal 'links and events' '128 2870 128 2871 exception' "$(json first.jsonl '"%d %d %d %d %s" % ((lambda s: (len(s["links"]), s["droppedLinksCount"],
    len(s["events"]), s["droppedEventsCount"], s["events"][-1]["name"]))(d["resourceSpans"][0]["scopeSpans"][0]["spans"][0]))')"

exported timeless.weft
says said '^weft: timeless.weft: the time of day is not known, so times count from 1970$'
exported empty.weft
equal 'nothing' '0 0' "$counted"
head -c 1700 one.weft >cut.weft
run 0 "$WEFT" export --to otlp -o cut.jsonl cut.weft
ours check cut.jsonl
run 1 "$WEFT" export --to otlp -o one.weft copy.weft
says err 'one.weft'
same 'a trace that is there' copy.weft one.weft

# mirage-profile's traces have neither UUID nor time of day.
if [ -x "${MKTRACE:-}" ] && [ -d "$DATA" ]; then
    for file in "$DATA"/*.ctf; do
        exported "$file" || :
        break
    done
fi

# A collector, which answers as its path says. There is no proxy; and libproxy does not get along with sanitizers.
export GIO_USE_PROXY_RESOLVER=dummy
cat >collector.py <<'END'
import http.server, json, sys

class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("received.jsonl", "ab") as f:
            f.write(body)
        with open("requests", "a") as f:
            print(self.path, self.headers["Content-Type"], file=f)
        answer = {"/rejects": b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too \\u001b old"}}',
                  "/odd": b'{"partialSuccess": [1'}.get(self.path, b"{}")
        self.send_response(503 if self.path == "/busy" else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
print(server.server_port, flush=True)
server.serve_forever()
END
exec {from}< <(exec python3 collector.py)
collector=$!
read -r port <&"$from"
sends() { # sends STATUS URL FILE
    rm -f received.jsonl requests
    run "$1" "$WEFT" export --to otlp -o "$2" "$3"
}
if "$WEFT" export --to otlp -o "http://127.0.0.1:$port" copy.weft 2>&1 | grep 'built without libsoup'; then
    echo 'not tried: collectors'
else
    sends 0 "http://127.0.0.1:$port" one.weft
    same 'what the collector gets' one.weft.jsonl received.jsonl
    equal 'where' '/v1/traces application/json' "$(cat requests)"
    sends 0 "http://127.0.0.1:$port/" many.weft
    same 'many lines' many.weft.jsonl received.jsonl
    sends 0 "http://127.0.0.1:$port/odd" one.weft
    equal 'a path' '/odd application/json' "$(cat requests)"
    sends 1 "http://127.0.0.1:$port/rejects" one.weft
    says err 'too .* old$'
    equal 'no control characters' 0 "$(grep -c $'\033' err)"
    says err 'has rejected 2 spans'
    sends 1 "http://127.0.0.1:$port/busy" many.weft
    says err 'answers with 503, Service Unavailable'
    equal 'nothing more is sent' 1 "$(wc -l <requests)"
    kill "$collector"
    wait "$collector" 2>/dev/null || :
    sends 1 "http://127.0.0.1:$port" one.weft
    says err "http://127.0.0.1:$port: "
    sends 1 'http://[' one.weft
    says err 'is no URL'
fi
finish
