"""From a table to a chart, one function each, a module a page. Nothing here knows of Streamlit; exports draw the same."""
