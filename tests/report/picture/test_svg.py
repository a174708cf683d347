from xml.etree import ElementTree

import msgspec
import pytest

from fencepost.report.cycle import buffered, closing
from fencepost.report.picture import layout, svg
from fencepost.verdicts import Edge, SafetyWitness
from tests.report.witnesses import (
    ANSWERS,
    HOSTILE,
    PETERSON_40,
    SB,
    TSO_HOSTILE,
    TSO_SB,
    TSO_SEVERAL,
    Step,
    peterson_on_tso,
    peterson_rounds,
    witness,
)

WITNESSES = {name: answer.witness for name, answer in ANSWERS.items() if answer.witness is not None}
NS = {"s": "http://www.w3.org/2000/svg"}


def texts(root):
    return ["".join(element.itertext()) for element in root.iterfind(".//s:text", NS)]


@pytest.mark.parametrize("name", WITNESSES)
def test_it_is_xml_with_a_role_a_title_and_a_description(name):
    root = ElementTree.fromstring(svg.render(WITNESSES[name], "A title"))
    assert root.get("role") == "img"
    title, description = root.find("s:title", NS), root.find("s:desc", NS)
    assert title.text == "A title"
    assert ("would have to come before itself" in description.text) == bool(WITNESSES[name].cycle)
    assert root.get("aria-labelledby").split() == [title.get("id"), description.get("id")]


@pytest.mark.parametrize("hostile", [HOSTILE, TSO_HOSTILE], ids=["graph", "store buffers"])
def test_text_of_the_file_is_escaped(hostile):
    text = svg.render(hostile, "<script>&\"'\x1b")
    root = ElementTree.fromstring(text)
    assert "<script" not in text
    assert "<img" not in text
    assert "\x1b" not in text
    assert {element.tag.split("}")[1] for element in root.iter()} == {
        *("svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "text", "tspan")
    }


def test_nothing_is_loaded_from_elsewhere():
    text = svg.render(SB)
    assert text.count("http") == 1
    assert "url(#fp" in text
    assert "@import" not in text


@pytest.mark.parametrize("name", WITNESSES)
def test_the_same_witness_gives_the_same_picture(name):
    assert svg.render(WITNESSES[name], "t") == svg.render(WITNESSES[name], "t")


def test_two_pictures_on_a_page_do_not_share_ids():
    ids = [
        {e.get("id") for e in ElementTree.fromstring(svg.render(w)).iter() if e.get("id")}
        for w in (WITNESSES["sb"], WITNESSES["iriw"])
    ]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("name", WITNESSES)
def test_arrows_run_through_no_other_box_and_stay_inside(name):
    plan = layout.arrange(WITNESSES[name], top=100)
    for arrow, route in svg._routed(plan, svg._router(plan)).items():
        for x, y in route.points[2:-2]:
            assert 0 < x < plan.width
            assert 80 < y < plan.height
            hit = [
                s for s, b in plan.boxes.items() if abs(x - b.x) < b.width / 2 and abs(y - b.y) < b.height / 2
            ]
            assert hit == [], f"{arrow} runs through {hit}"


@pytest.mark.parametrize("name", WITNESSES)
@pytest.mark.parametrize("full", [False, True])
def test_boxes_do_not_overlap_and_only_what_contradicts_an_order_points_up(name, full):
    run = WITNESSES[name]
    plan = layout.arrange(run, most=None if full else layout.LONGEST_FULL_RUN)
    boxes = list(plan.boxes.values())
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= (a.height + b.height) / 2
    for arrow in plan.arrows:
        down = plan.boxes[arrow.target].y > plan.boxes[arrow.source].y
        old_value = isinstance(run, SafetyWitness) and arrow.relations == ("fr",)
        assert down or old_value or arrow.source == closing(run) or arrow.target in buffered(run)


@pytest.mark.parametrize("name", WITNESSES)
def test_the_whole_cycle_is_bold(name):
    run = WITNESSES[name]
    plan = layout.arrange(run, most=None)
    bold = {(arrow.source, arrow.target) for arrow in plan.arrows if arrow.on_cycle}
    assert bold == {(edge.source, edge.target) for edge in run.cycle}


def test_an_edge_of_the_cycle_past_other_writes_is_drawn():
    steps = [
        *(Step(0, "W x=1"), Step(0, "R y=0")),
        *(Step(1, "W y=1"), Step(1, "W y=2"), Step(1, "R x=0")),
    ]
    run = witness(("t1", "t2"), {"x": 0, "y": 0}, steps, stale=0)
    cycle = (Edge(2, 3, "po"), Edge(3, 5, "fr"), Edge(5, 6, "po"), Edge(6, 2, "fr"))
    assert Edge(3, 5, "fr") not in run.edges
    plan = layout.arrange(msgspec.structs.replace(run, cycle=cycle), most=None)
    assert {(a.source, a.target) for a in plan.arrows if a.on_cycle} == {(2, 3), (3, 5), (5, 6), (6, 2)}


@pytest.mark.parametrize("long_run", [peterson_rounds, peterson_on_tso])
@pytest.mark.parametrize("rounds", [3, 30])
def test_the_bold_arrows_close_even_when_a_long_run_is_cut(rounds, long_run):
    plan = layout.arrange(long_run(rounds))
    bold = [arrow for arrow in plan.arrows if arrow.on_cycle]
    assert sorted(map(str, (arrow.source for arrow in bold))) == sorted(
        map(str, (arrow.target for arrow in bold))
    )


def test_a_long_run_says_how_much_is_left_out():
    root = ElementTree.fromstring(svg.render(PETERSON_40))
    assert [text for text in texts(root) if "more" in text] == ["⋯ 16 more", "⋯ 17 more"]
    shown = ElementTree.fromstring(svg.render(PETERSON_40, full=True))
    assert not any("more" in text for text in texts(shown))
    assert sum(text.startswith(("W ", "R ")) for text in texts(shown)) == 41


def test_labels_name_the_accesses_and_their_lines():
    words = texts(ElementTree.fromstring(svg.render(ANSWERS["fences"].witness)))
    assert {"W x=1", "R y=0", "fence", "6: fence", "5: x.store(1)", "init x=0"} <= set(words)
    assert not any("init fence" in word for word in words)
    assert "RMW x 0→1" in texts(ElementTree.fromstring(svg.render(ANSWERS["failed-cas"].witness)))


def test_the_legend_names_only_what_is_drawn():
    words = texts(ElementTree.fromstring(svg.render(SB)))
    assert "the access that leaves SC" in words
    assert not any("store buffer" in word or "reaches memory" in word for word in words)
    words = texts(ElementTree.fromstring(svg.render(TSO_SB)))
    assert {"so: reaches memory before", "the write in the store buffer"} <= set(words)
    assert {"writes behind it", "the access that leaves SC"}.isdisjoint(words)
    assert "writes behind it" in texts(ElementTree.fromstring(svg.render(TSO_SEVERAL)))
