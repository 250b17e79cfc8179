"""The verb lesson: the built-in ones, the check of a file, a file to start from."""

import json

from program import FOLDER, refused, run, run_json


def the_built_in_lessons_are_listed():
    lines = run("lesson").out.splitlines()
    names = [line.split()[0] for line in lines]
    assert "how-a-model-copies-a-word" in names and len(names) >= 3, lines
    assert [one["name"] for one in run_json("lesson list --json")["lessons"]] == names
    assert run("lesson list").out.splitlines() == lines


def each_built_in_lesson_can_be_solved_in_its_model():
    for line in run("lesson").out.splitlines():
        tasks = run_json("lesson check --json", line.split()[0])["tasks"]
        assert len(tasks) >= 5, tasks
        assert all(task["solved"] for task in tasks), tasks


def a_lesson_to_start_from_is_written_and_holds():
    file = FOLDER / "mine.headlight-lesson.json"
    run("lesson new -o", file)
    kinds = {task["kind"] for task in json.loads(file.read_text(encoding="utf-8"))["tasks"]}
    assert kinds == {"metric", "head", "look", "answer", "layer", "station"}, kinds
    out = run("lesson check", file).out
    assert out.count("its solution solves it.") == len(kinds), out
    again = run("lesson new -o -").out
    assert again == file.read_text(encoding="utf-8")
    run("lesson new what-a-mask-hides -o", file)
    assert json.loads(file.read_text(encoding="utf-8"))["title"] == "What a mask hides"


def what_is_wrong_with_a_lesson_is_said():
    file = FOLDER / "wrong.headlight-lesson.json"
    run("lesson new -o", file)
    lesson = json.loads(file.read_text(encoding="utf-8"))

    def wrong(said, task=None, **changes):
        other = json.loads(json.dumps(lesson))
        (other if task is None else other["tasks"][task]).update(changes)
        file.write_text(json.dumps(other), encoding="utf-8")
        refused(said, "lesson check", file)

    wrong('the key "tittle" is unknown', tittle="x")
    wrong('there is no view "hed"', view="hed")
    wrong("nothing", model="nothing")
    wrong("“below” or “above”", 3, above=0.5)
    wrong('task 4 of 6, "Bring “ball” below 10 %", cannot be used: its goal is met', 3, below=2.0)
    wrong("does not solve it", 3, solution=["mask:16>4"])
    wrong("9.9", 3, head="9.9")
    wrong("the query 99", 1, query=99)


def a_lesson_is_not_written_where_it_would_not_open():
    refused("ends in .headlight-lesson.json", "lesson new -o", FOLDER / "x.json")
    refused("Name the file", "lesson new")
    refused("no built-in lesson", "lesson new nothing -o", FOLDER / "x.headlight-lesson.json")
    refused("Name a lesson to check", "lesson check")
    refused("goes with “lesson new”", "lesson check x -o", FOLDER / "x.headlight-lesson.json")
    refused("is not one of", "lesson wisdom", status=2)


def results_of_a_class_are_one_table():
    for number, who in enumerate(("Kim", "", "Zoë")):
        tasks = [
            {"title": "a", "done": True, "tries": number + 1, "hints": 0, "seconds": 60},
            {"title": "b", "done": False, "tries": 0, "hints": 2, "seconds": 60},
        ]
        file = FOLDER / f"{number}.results.json"
        root = {"format": "headlight-results", "version": 1, "lesson": "L", "who": who}
        file.write_text(json.dumps({**root, "tasks": tasks}), encoding="utf-8")
    files = [FOLDER / f"{number}.results.json" for number in range(3)]
    lines = run("lesson results", *files).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["Kim", "1.results.json", "Zoë"], lines
    assert lines[3].split() == "Zoë 1 of 2 2 min 3✓ –".split(), lines
    rows = run_json("lesson results --json", *files)["results"]
    assert [row["tasks"][0]["tries"] for row in rows] == [1, 2, 3], rows
    assert rows[0]["tasks"][1]["hints"] == 2, rows
    other = json.loads(files[2].read_text(encoding="utf-8"))
    files[2].write_text(json.dumps({**other, "lesson": "M"}), encoding="utf-8")
    refused("name files of one lesson", "lesson results", *files)
    run("lesson new -o", FOLDER / "other.headlight-lesson.json")
    refused("does not hold results", "lesson results", FOLDER / "other.headlight-lesson.json")
