"""stub"""
import streamlit as st


def draw(clinic):
    st.markdown("Nothing is ever stopped by itself")
