"""The dashboard's own parts, and the only place that imports Streamlit."""
