"""Tables into words, charts and documents: computes nothing, knows no Streamlit."""
