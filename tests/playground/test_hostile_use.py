"""Visitors who mean no good: too much, too long, too many, from elsewhere, and after the machine's files."""

import json
import socket
import threading

import pytest

from .serving import ENDLESS, SB, playground, wait_until

FIFTY_MEGABYTES = 50 << 20
SECRET = b"root:"  # in every /etc/passwd


def is_well(serving):
    return serving.answer(SB)["holds"] is False


class TestTooMuch:
    def test_fifty_megabytes_are_refused_before_they_are_read(self, serving):
        before = serving.memory_mb()
        connection = serving.connect()
        connection.putrequest("POST", "/api/search")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(FIFTY_MEGABYTES))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
        assert serving.memory_mb() < before + 10
        assert is_well(serving)

    def test_fifty_megabytes_in_pieces_are_cut_off(self, serving):
        before = serving.memory_mb()
        piece = b"100000\r\n%s\r\n" % (b" " * (1 << 20))
        head = (
            f"POST /api/search HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        assert taken(serving, head.encode(), piece, 50) < 50
        assert serving.memory_mb() < before + 20
        assert is_well(serving)

    def test_a_header_without_end_is_cut_off(self, serving):
        assert taken(serving, b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"a" * (1 << 20), 50) < 50
        assert is_well(serving)

    @pytest.mark.parametrize(
        "text",
        [
            "fn t { local r; r = " + "(" * 100_000,
            "fn t { " + "if (1) { " * 20_000,
            "global x;\n" * 20_000,
            "fn t[64] { " + "skip; " * 30_000 + "}",
            "global x[256]; fn t { local r; r = " + "1 + " * 50_000 + "1; }",
            "\x00\ud7ff\u202e\x1b[31m",
            "fn t { while (1) { skip; } }",
            "fn t { local a, b, c; while (1) { a = a + 1; oneof({ b = a; }{ c = a; }); } }",
        ],
        ids=["parentheses", "blocks", "locations", "threads", "sum", "controls", "loop", "choices"],
    )
    def test_strange_programs_end(self, serving, text):
        last = serving.search(text[: 1 << 17])[-1]
        assert last.keys() <= {"mistake", "answer", "failure"}
        assert is_well(serving)

    def test_a_search_may_not_take_all_memory(self):
        with playground("--timeout", "60", "--max-memory", "32") as small:
            answer = small.answer(ENDLESS)
            assert answer["verdict"] == "unknown"
            assert "memory limit" in answer["html"]


class TestTooLong:
    def test_a_search_that_nobody_waits_for_is_ended(self, serving):
        with serving.started(ENDLESS) as connection:
            assert b"progress" in connection.getresponse().readline()
            assert len(serving.searches()) == 1
        wait_until(lambda: not serving.searches())
        assert is_well(serving)

    def test_also_before_it_has_said_anything(self, serving):
        with serving.started(ENDLESS):
            wait_until(lambda: bool(serving.searches()))
        wait_until(lambda: not serving.searches())

    def test_a_search_does_not_outlive_its_time(self):
        with playground("--timeout", "1") as short:
            assert short.answer(ENDLESS)["verdict"] == "unknown"
            wait_until(lambda: not short.searches())

    def test_a_repair_does_not_outlive_its_time(self):
        with playground("--timeout", "1") as short:
            last = short.search(ENDLESS + SB.replace("global x", "global x9, x"), task="repair")[-1]
            assert last.keys() <= {"answer", "failure", "mistake"}
            wait_until(lambda: not short.searches())

    def test_searches_end_with_the_server(self):
        with playground("--timeout", "60") as short:
            connection = short.connect()
            body = json.dumps({"task": "ask", "text": ENDLESS})
            connection.request("POST", "/api/search", body, {"Content-Type": "application/json"})
            wait_until(lambda: bool(short.searches()))
            (search,) = short.searches()
        connection.close()
        wait_until(lambda: not is_running(search))

    def test_and_if_the_server_is_killed(self):
        """Then a search cannot say how far it is, and ends."""
        with playground("--timeout", "60") as killed, killed.started(ENDLESS) as connection:
            assert b"progress" in connection.getresponse().readline()
            (search,) = killed.searches()
            killed.process.kill()
            wait_until(lambda: not is_running(search))

    def test_half_a_request_keeps_nobody_waiting(self, serving):
        streams = [socket.create_connection(("127.0.0.1", serving.port), 30) for _ in range(20)]
        for stream in streams:
            stream.sendall(b"POST /api/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        assert is_well(serving)
        for stream in streams:
            stream.close()


class TestTooMany:
    def test_ten_thousand_requests(self, serving):
        """Good, bad and senseless ones; then the server is what it was before."""
        assert is_well(serving)
        files, memory = serving.open_files(), serving.memory_mb()
        own = f"127.0.0.1:{serving.port}"
        kinds = [
            ("GET", "/", None, {}, 200),
            ("GET", "/api/examples/3", None, {}, 200),
            ("GET", "/nowhere?" + "x" * 500, None, {}, 404),
            ("DELETE", "/api/search", None, {}, 405),
            ("POST", "/api/search", b"{]", {"Content-Type": "application/json"}, 400),
            ("POST", "/api/search", b"{}", {"Content-Type": "text/plain"}, 415),
            ("GET", "/", None, {"Host": "elsewhere.example"}, 403),
            ("GET", "/", None, {"Host": own, "Origin": "http://elsewhere.example"}, 403),
        ]
        connection = serving.connect()
        for number in range(10_000):
            method, path, body, headers, status = kinds[number % len(kinds)]
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            assert response.status == status, (path, headers)
        connection.close()
        assert is_well(serving)
        wait_until(lambda: serving.open_files() <= files + 2)
        assert serving.memory_mb() < memory + 30

    def test_only_so_many_searches_run_at_once(self, serving):
        statuses, most = [], 0
        searching = threading.Event()

        def ask():
            with serving.started(ENDLESS) as connection:
                response = connection.getresponse()
                statuses.append(response.status)
                searching.wait(60)

        visitors = [threading.Thread(target=ask) for _ in range(12)]
        for visitor in visitors:
            visitor.start()
        while len(statuses) < len(visitors):
            most = max(most, len(serving.searches()))
        searching.set()
        for visitor in visitors:
            visitor.join()
        assert most <= 3
        assert sorted(statuses) == [200] * 3 + [429] * 9
        wait_until(lambda: not serving.searches())
        # The server hands a place on a moment after the process in it is gone.
        wait_until(lambda: serving.post({"task": "ask", "text": SB})[0].status == 200)
        assert is_well(serving)


class TestFromElsewhere:
    @pytest.mark.parametrize(
        "host", ["elsewhere.example", "127.0.0.1", "127.0.0.1:1", "localhost.elsewhere.example:80", ""]
    )
    def test_a_foreign_host_is_refused(self, serving, host):
        response, body = serving.get("/", Host=host)
        assert response.status in (400, 403)
        assert b"fencepost playground" not in body

    def test_localhost_is_not_foreign(self, serving):
        assert serving.get("/", Host=f"localhost:{serving.port}")[0].status == 200

    def test_names_can_be_allowed(self):
        with playground("--allow-host", "play.example") as named:
            assert named.get("/", Host="play.example")[0].status == 200
            assert named.get("/", Host="other.example")[0].status == 403

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://elsewhere.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
        ],
        ids=lambda headers: " ".join(headers.values()),
    )
    def test_requests_of_other_sites_are_refused(self, serving, headers):
        response, body = serving.post({"task": "ask", "text": SB}, headers)
        assert response.status == 403
        assert b"answer" not in body

    def test_a_form_of_another_site_is_no_request(self, serving):
        body = json.dumps({"task": "ask", "text": SB}).encode()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            assert serving.request("POST", "/api/search", body, {"Content-Type": kind})[0].status == 415

    def test_own_requests_are_answered(self, serving):
        own = {"Origin": f"http://127.0.0.1:{serving.port}", "Sec-Fetch-Site": "same-origin"}
        assert serving.post({"task": "ask", "text": SB}, own)[0].status == 200

    def test_a_link_from_elsewhere_may_be_followed(self, serving):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert serving.get("/", **headers)[0].status == 200
        headers["Sec-Fetch-Mode"] = "no-cors"
        assert serving.get("/assets/report.js", **headers)[0].status == 403

    @pytest.mark.parametrize("path", ["/", "/assets/report.js", "/api/start", "/nowhere"])
    def test_every_response_is_strict_about_what_browsers_may_do(self, serving, path):
        headers = serving.get(path)[0].headers
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["connect-src"] == "'self'"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Access-Control-Allow-Origin"] is None

    def test_what_style_sheets_must_show_is_new_each_time(self, serving):
        policies = {serving.get("/")[0].headers["Content-Security-Policy"] for _ in range(5)}
        assert len(policies) == 5


class TestFilesOfTheMachine:
    @pytest.mark.parametrize("folder", ["/assets/", "/vendor/", "/api/examples/", "/"])
    @pytest.mark.parametrize(
        "climb", ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..\\", "....//", "..%252f", "..%c0%af", "/"]
    )
    def test_no_path_leads_out(self, serving, folder, climb):
        for path in (folder + climb * 12 + "etc/passwd", folder + "report.js/" + climb * 12 + "etc/passwd"):
            response, body = serving.get(path)
            assert response.status in (400, 404), path
            assert SECRET not in body

    @pytest.mark.parametrize(
        "path", ["/assets/page.html", "/assets/", "/app.py", "/assets/../app.py", "/vendor"]
    )
    def test_only_what_the_page_needs_is_there(self, serving, path):
        assert serving.get(path)[0].status == 404

    @pytest.mark.parametrize("format", ["/etc/passwd", "../tpl", "os", "c", "promela", ""])
    def test_a_format_is_one_of_those_there_are(self, serving, format):
        response, body = serving.post({"task": "read", "text": SB, "format": format})
        assert response.status == 400
        assert b"no such format" in body

    @pytest.mark.parametrize(
        "text", ["/etc/passwd", "file:///etc/passwd", '#include "/etc/passwd"', "@/etc/passwd"]
    )
    def test_a_program_that_is_a_path_is_a_mistake(self, serving, text):
        for format in ("tpl", "litmus", "automata", "persist"):
            said = serving.search(text, format=format, task="read")
            assert "mistake" in said[-1]
            assert SECRET.decode() not in json.dumps(said)

    def test_a_request_has_no_other_fields(self, serving):
        response, _ = serving.post({"task": "ask", "text": SB, "file": "/etc/passwd"})
        assert response.status == 400


class TestText:
    MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"

    def test_markup_in_comments_does_not_reach_the_page(self, serving):
        html = serving.answer(f"// {self.MARKUP}\n{SB}")["html"]
        assert "onerror" not in html
        assert "<script>" not in html

    def test_markup_in_names_is_text(self, serving):
        text = (
            f"C {self.MARKUP}\n{{ x = 0; y = 0; }}\n"
            "P0(atomic_int* x, atomic_int* y) {\n"
            "  atomic_store_explicit(x, 1, memory_order_relaxed);\n"
            "  int r0 = atomic_load_explicit(y, memory_order_relaxed);\n}\n"
            "P1(atomic_int* x, atomic_int* y) {\n"
            "  atomic_store_explicit(y, 1, memory_order_relaxed);\n"
            "  int r0 = atomic_load_explicit(x, memory_order_relaxed);\n}\n"
            "exists (0:r0 = 0 /\\ 1:r0 = 0)\n"
        )
        for said in serving.search(text, format="litmus"):
            assert "<img" not in said.get("answer", {}).get("html", "")

    def test_markup_in_a_mistake_stays_in_its_field(self, serving):
        (said,) = serving.search(f"fn {self.MARKUP}", task="read")
        assert said.keys() == {"mistake"}


def taken(serving, head, piece, most):
    """How many pieces the server takes before it closes the connection."""
    with socket.create_connection(("127.0.0.1", serving.port), 60) as stream:
        stream.sendall(head)
        for number in range(most):
            try:
                stream.sendall(piece)
            except OSError:
                return number
    return most


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
