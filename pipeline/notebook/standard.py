import marimo

app = marimo.App(width="medium", app_title="MineEvolve")


@app.cell
def _():
    import marimo as mo

    from pipeline.notebook.plots import PLOTS
    from pipeline.settings import Settings
    from warehouse.analysis import query

    home = Settings().home
    return PLOTS, home, mo, query


@app.cell
def _(home, mo):
    mo.md(f"""
    # What happened, what was learnt, what it is worth

    Read from `analysis.duckdb` in `{home}`, read-only; `docs/sql.md` describes its views. Where rollouts were
    played in the built-in world, world and planner are stand-ins and their figures say nothing of Minecraft.
    """)
    return


@app.cell
def _(PLOTS, home, mo, query):
    def shown(name):
        """A standard plot under its question, with the query that it is drawn from."""
        plot = PLOTS[name]
        rows = query(home, plot.sql)
        drawn = (
            mo.md(f"*Nothing yet: {plot.none_yet} gives it rows.*") if rows.is_empty() else plot.draw(rows)
        )
        asked = mo.accordion({"the query": mo.md(f"```sql\n{plot.sql}\n```")})
        return mo.vstack([mo.md(f"## {plot.question}"), drawn, asked])

    return (shown,)


@app.cell
def _(shown):
    shown("success_rates")
    return


@app.cell
def _(shown):
    shown("failure_mix")
    return


@app.cell
def _(shown):
    shown("stagnation_hotspots")
    return


@app.cell
def _(shown):
    shown("claims_vs_evidence")
    return


@app.cell
def _(shown):
    shown("knowledge_growth")
    return


@app.cell
def _(shown):
    shown("uses")
    return


@app.cell
def _(shown):
    shown("success_by_group")
    return


@app.cell
def _(mo):
    mo.md("""
    ## Your own question
    """)
    return


@app.cell
def _(mo):
    asked = mo.ui.text_area(value="FROM knowledge_growth", rows=5, full_width=True)
    asked
    return (asked,)


@app.cell
def _(asked, home, query):
    query(home, asked.value)
    return


if __name__ == "__main__":
    app.run()
