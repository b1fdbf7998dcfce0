/* SPDX-License-Identifier: GPL-3.0-or-later */
"use strict";
(function () {
    const all = JSON.parse(document.getElementById("data").textContent);
    const form = document.getElementById("filter");
    const MOST = 200;

    function chosen() {
        const text = form.elements.text.value.toLowerCase();
        const wanted = ["mask", "queries", "keys", "type", "values"].map(
            (name) => form.elements[name].value);
        const verdict = form.elements.verdict.value;
        return all.filter((c) =>
            wanted.every((w, facet) => w === "" || c.facets[facet] === Number(w)) &&
            (verdict === "" || (verdict === "bad" ? c.bad : c.verdict === verdict)) &&
            (text === "" || (c.id + " " + c.check + " " + c.line).toLowerCase().includes(text)));
    }

    function fillTables(cases) {
        for (const cell of document.querySelectorAll("td.cell")) {
            const [rows, row, columns, column] = cell.dataset.at.split(" ").map(Number);
            const here = cases.filter((c) => (c.bad || c.verdict === "PASS") &&
                c.facets[rows] === row && c.facets[columns] === column);
            const bad = here.filter((c) => c.bad).length;
            const share = here.length ? bad / here.length : 0;
            const shade = !here.length ? "none" : !bad ? "c0" : share < 0.1 ? "c1" :
                share < 0.5 ? "c2" : "c3";
            cell.className = "cell " + shade;
            cell.textContent = here.length ? bad + "/" + here.length : "-";
        }
    }

    function add(row, tag, text, name) {
        const cell = document.createElement(tag);
        cell.textContent = text;
        if (name) {
            cell.className = name;
        }
        row.appendChild(cell);
    }

    function fillList(cases) {
        const body = document.getElementById("list");
        body.textContent = "";
        const sorted = cases.slice().sort((a, b) => b.bad - a.bad);
        for (const c of sorted.slice(0, MOST)) {
            const row = document.createElement("tr");
            add(row, "td", c.verdict, c.bad ? "failed" : "");
            add(row, "td", c.id);
            add(row, "td", c.check);
            add(row, "td", c.ratio === null ? "" : c.ratio.toPrecision(3), "n");
            add(row, "td", c.line);
            body.appendChild(row);
        }
        document.getElementById("count").textContent = cases.length + " cases" +
            (cases.length > MOST ? ", the first " + MOST + " of them below" : "");
    }

    function update() {
        const cases = chosen();
        fillTables(cases);
        fillList(cases);
    }

    form.addEventListener("input", update);
    form.addEventListener("reset", () => setTimeout(update, 0));
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("click", (event) => {
        const button = event.target.closest("button[data-copy]");
        if (!button) {
            return;
        }
        const text = document.getElementById(button.dataset.copy);
        const range = document.createRange();
        range.selectNodeContents(text);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        if (navigator.clipboard) {
            navigator.clipboard.writeText(text.textContent).then(
                () => { button.textContent = "copied"; },
                () => { button.textContent = "selected"; });
        } else {
            button.textContent = "selected";
        }
    });
    addEventListener("beforeprint", () => {
        for (const part of document.querySelectorAll("details")) {
            part.open = true;
        }
    });
    update();
})();
