"""The words of tables in six languages: yes and no, the parts of a split, and what names of columns say."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

YES = frozenset(
    [
        "1",
        "yes",
        "y",
        "true",
        "t",
        "positive",
        "pos",
        "+",
        "present",
        "abnormal",
        "diseased",
        "disease",
        "sick",
        "case",
        "ja",
        "j",
        "wahr",
        "richtig",
        "positiv",
        "krank",
        "auffällig",
        "oui",
        "o",
        "vrai",
        "positif",
        "malade",
        "anormal",
        "présent",
        "si",
        "sí",
        "s",
        "verdadero",
        "cierto",
        "positivo",
        "enfermo",
        "presente",
        "vero",
        "malato",
        "anomalo",
        "sim",
        "verdadeiro",
        "doente",
        "alterado",
        "patologisch",
        "pathological",
        "malignant",
        "bösartig",
        "malin",
        "maligno",
        "referable",
    ]
)
NO = frozenset(
    [
        "0",
        "no",
        "n",
        "false",
        "f",
        "negative",
        "neg",
        "-",
        "absent",
        "normal",
        "healthy",
        "well",
        "control",
        "none",
        "nein",
        "falsch",
        "negativ",
        "gesund",
        "unauffällig",
        "non",
        "faux",
        "négatif",
        "sain",
        "falso",
        "negativo",
        "sano",
        "ausente",
        "assente",
        "não",
        "nao",
        "saudável",
        "benign",
        "gutartig",
        "bénin",
        "benigno",
        "nothing",
        "kein",
        "keine",
        "ohne",
        "clear",
    ]
)
MISSING = frozenset(
    {
        "na",
        "n/a",
        "nan",
        "null",
        "none",
        "#n/a",
        "missing",
        "unknown",
        "-",
        "--",
        "---",
        "–",
        ".",
        "?",
        "k.a.",
        "n.a.",
        "nd",
    }
)
"""What people write in a cell that has nothing to say."""
UNSURE = frozenset(
    {"unsure", "not sure", "uncertain", "undecided", "indeterminate", "inconclusive", "equivocal", "unclear",
     "don't know", "do not know", "cannot tell", "abstain", "ungradable", "not gradable", "non-diagnostic",
     "unsicher", "unklar", "fraglich", "nicht beurteilbar", "unentschieden", "enthaltung", "incertain", "indetermine",
     "douteux", "ne sait pas", "incierto", "dudoso", "indeterminado", "no concluyente", "incerto", "dubbio",
     "indeterminato", "non conclusivo", "duvidoso", "inconclusivo"}
)  # fmt: skip
"""What somebody says who read a case and decided nothing."""

SPLIT_WORDS = {
    "train": [
        "train",
        "training",
        "learn",
        "learning",
        "fit",
        "development",
        "dev",
        "derivation",
        "lernen",
        "entrainement",
        "apprentissage",
        "entrenamiento",
        "addestramento",
        "treino",
        "treinamento",
    ],
    "val": [
        "val",
        "valid",
        "validation",
        "tune",
        "tuning",
        "calibration",
        "internal",
        "validierung",
        "validacion",
        "validazione",
        "validacao",
    ],
    "test": ["test", "testing", "holdout", "hold-out", "held-out", "evaluation", "eval", "external", "prueba", "teste"],
}
PART_OF = {word: part for part, words in SPLIT_WORDS.items() for word in words}

LOWER_FIRST = (  # words in their order, so that the first has the lowest number
    ("no", "mild", "moderate", "severe"),
    ("none", "mild", "moderate", "severe", "proliferative"),
    ("absent", "mild", "moderate", "severe"),
    ("low", "medium", "high"),
    ("low", "intermediate", "high"),
    ("poor", "fair", "good", "excellent"),
    ("bad", "usable", "good"),
    ("small", "medium", "large"),
    ("never", "former", "current"),
    ("niedrig", "mittel", "hoch"),
    ("gering", "mittel", "hoch"),
    ("schlecht", "mittel", "gut"),
    ("faible", "moyen", "élevé"),
    ("bajo", "medio", "alto"),
    ("basso", "medio", "alto"),
    ("baixo", "médio", "alto"),
)

# What names say.
NAMES: dict[str, tuple[str, ...]] = {
    "case": (
        "case", "id", "image", "filename", "file", "accession", "record", "recording", "sample", "scan", "row", "key",
        "tracing", "photo", "slide", "epoch", "study", "exam", "fall", "fallnummer", "bild", "bildnummer", "datei",
        "nummer", "aufnahme", "cas", "image", "fichier", "identifiant", "numero", "caso", "imagen", "archivo",
        "identificador", "immagine", "identificativo", "imagem", "arquivo", "ficheiro", "uid", "uuid", "nr", "no",
    ),
    "truth": (
        "truth", "ytrue", "y true", "gold", "reference", "ground", "gt", "true label", "final diagnosis", "consensus",
        "adjudicat", "biopsy", "histolog", "biopsia", "biopsie", "histology", "histologie", "histologia",
        "histopathology", "label", "diagnosis", "outcome", "target", "class", "y", "disease",
        "wahrheit", "referenz", "goldstandard", "diagnose", "zielgrosse", "konsens", "endbefund", "verite", "reference",
        "diagnostic", "etalon", "verdad", "referencia", "diagnostico", "resultado real", "verita", "riferimento",
        "diagnosi", "verdade", "padrao ouro", "desfecho",
    ),
    "split": ("split", "set", "subset", "partition", "fold", "aufteilung", "teil", "ensemble", "particion", "particao"),
    "cohort": (
        "cohort", "hospital", "clinic", "center", "centre", "institution", "dataset", "source", "site", "scanner",
        "device", "camera", "manufacturer", "vendor", "finding", "country", "region", "ward", "department", "kohorte",
        "zentrum", "klinik", "standort", "krankenhaus", "gerat", "quelle", "cohorte", "hopital", "clinique", "appareil",
        "pays", "service", "cohorte", "centro", "clinica", "sitio", "dispositivo", "pais", "coorte", "ospedale",
        "sede", "paese", "aparelho", "origem", "dermoscope", "microscope", "endoscope", "mikroskop",
    ),
    "body": ("anatom", "anatomic", "anatomical", "body", "lesion", "tumor", "tumour", "korper", "lasion"),
    "group": (
        "patient", "subject", "person", "participant", "exam", "examination", "study", "visit", "night", "admission",
        "encounter", "mrn", "pid", "woman", "frau", "child", "historia", "expediente", "dossier", "proband",
        "teilnehmer", "untersuchung", "nacht", "besuch", "sujet", "examen",
        "visite", "nuit", "paciente", "sujeto", "persona", "noche", "paziente", "soggetto", "esame", "notte",
        "sujeito", "pessoa", "exame", "noite",
    ),
    "date": (
        "date", "day", "time", "when", "acquired", "datum", "tag", "zeit", "zeitpunkt", "aufnahmedatum", "jour",
        "fecha", "dia", "data", "giorno", "timestamp",
    ),
    "ai": (
        "ai", "ki", "ia", "cnn", "dl", "ml", "nn", "dnn", "model", "algorithm", "network", "classifier", "deep",
        "machine", "computer", "software", "cad", "cade", "cadx", "modell", "netz", "algorithmus", "maschine",
        "algorithme", "modele", "reseau", "algoritmo", "modelo", "modello", "rete", "rede", "ensemble", "swin",
        "resnet", "vit",
    ),
    "probability": (
        "prob", "probability", "p", "score", "sigmoid", "softmax", "prediction", "predicted", "pred", "likelihood",
        "confidence", "output", "risk score", "wahrscheinlichkeit", "vorhersage", "ausgabe", "probabilite", "sortie",
        "probabilidad", "salida", "puntuacion", "probabilita", "punteggio", "probabilidade", "saida", "pontuacao",
    ),
    "logit": ("logit", "logodds", "log odds", "logits"),
    "spread": ("sd", "std", "stdev", "var", "variance", "entropy", "uncertainty", "spread", "ci", "unsicherheit"),
    "reader": (
        "who", "user", "wer", "initials", "dra", "dott", "dottoressa", "prof",
        "reader", "expert", "rater", "grader", "annotator", "radiologist", "cardiologist", "ophthalmologist",
        "dermatologist", "pathologist", "neurologist", "physician", "doctor", "dr", "resident", "student", "nurse",
        "clinician", "observer", "reviewer", "technician", "technologist", "optometrist", "consultant", "specialist",
        "gp", "scorer", "human", "registrar", "fellow", "md", "arzt", "arztin", "leser", "befunder", "radiologe",
        "kardiologe", "augenarzt", "gutachter", "assistenz", "lecteur", "lectrice", "medecin", "radiologue",
        "cardiologue", "interne", "expert", "evaluateur", "lector", "medico", "medica", "radiologo", "cardiologo",
        "residente", "evaluador", "experto", "lettore", "valutatore", "esperto", "specializzando", "leitor",
        "avaliador", "especialista", "perito", "lecture", "reading",
    ),
    "says": (
        "says", "answer", "decision", "reading", "read", "call", "vote", "grade", "label", "rating", "opinion",
        "diagnosis", "response", "result", "antwort", "befund", "urteil", "entscheidung", "reponse", "avis",
        "decision", "respuesta", "lectura", "dictamen", "risposta", "lettura", "giudizio", "resposta", "leitura",
        "parecer", "bewertung",
    ),
    "distance": ("vim", "ood", "distance", "mahalanobis", "novelty", "outlier", "unlike", "abstand", "distanz",
                 "distancia", "distanza", "atypical", "anomaly"),
    "quality": ("quality", "sharpness", "focus", "snr", "qualitat", "qualite", "calidad", "qualita", "qualidade"),
    "poor": ("blur", "noise", "artifact", "artefact", "artefakt", "artefacto", "artefatto", "haze", "poor", "unscharfe",
             "rauschen", "bruit", "ruido",
             "rumore", "ungradable"),
    "risk": ("risk", "risiko", "risque", "riesgo", "rischio", "risco", "difficulty", "complexity", "ambiguity"),
    "structure": ("cdr", "ratio", "cup", "diameter", "volume", "size", "area", "lesions", "lesion", "count",
                  "calcium", "nodule", "durchmesser", "volumen", "flache", "grosse", "diametre", "taille",
                  "diametro", "tamano", "dimensione", "tamanho", "severity", "plaque"),
    "person": (
        "age", "alter", "edad", "eta", "idade", "sex", "gender", "male", "female", "geschlecht", "sexe", "sexo",
        "sesso", "genero", "genere", "smoker", "smoking", "raucher", "fumeur", "fumador", "fumatore", "fumante", "bmi",
        "weight", "height", "diabetes", "diabetic", "hypertension", "laterality", "eye", "side", "race", "ethnicity",
        "auge", "seite", "family", "pregnant", "symptom", "prior", "history", "medication", "treated",
    ),
    "identifying": (
        "surname", "firstname", "lastname", "first name", "last name", "patient name", "birth", "dob", "birthdate",
        "birthday", "address", "phone", "email", "ssn", "postcode", "zip", "vorname", "nachname", "geburtsdatum",
        "geburtstag", "adresse", "telefon", "prenom", "naissance", "apellido", "nacimiento", "direccion", "telefono",
        "cognome", "nascita", "indirizzo", "sobrenome", "nascimento", "endereco", "telefone", "insurance",
    ),
    "positive": ("1", "pos", "positive", "disease", "diseased", "sick", "abnormal", "krank", "positiv", "case"),
    "negative": ("0", "neg", "negative", "healthy", "normal", "control", "gesund", "negativ"),
}  # fmt: skip
SHORT = 4  # letters; a word as short as this must stand by itself


def plain(text: str) -> str:
    """In small letters without accents.

    >>> plain("Qualität "), plain("NÉGATIF")
    ('qualitat', 'negatif')
    """
    parts = unicodedata.normalize("NFKD", text.casefold().strip())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@cache
def name_words(name: str) -> tuple[str, ...]:
    """The words and numbers of a column's name.

    >>> name_words("pHa"), name_words("ai_probability"), name_words("Cardiologist1"), name_words("GroundTruth 2")
    (('p', 'ha'), ('ai', 'probability'), ('cardiologist', '1'), ('ground', 'truth', '2'))
    """
    apart = re.sub(
        r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])|(?<=\D)(?=\d)|(?<=\d)(?=\D)", " ", name
    )
    return tuple(filter(None, re.split(r"[\W_]+", plain(apart))))


@cache
def says(name: str, kind: str) -> str:
    """The word by which a column's name tells that it is of a kind; empty if none does.

    >>> says("north_expert_1", "reader"), says("sepal", "ai"), says("Augenarzt B", "reader"), says("y_true", "truth")
    ('expert', '', 'augenarzt', 'y true')
    """
    words = name_words(name)
    joined = f" {' '.join(words)} "
    for word in map(plain, NAMES[kind]):
        if f" {word} " in joined:
            return word
    return next((word for word in map(plain, NAMES[kind]) if any(_part_of(part, word) for part in words)), "")


def _part_of(longer: str, word: str) -> bool:
    """Whether a word is a plural of another or put together with it: readers, Bildqualität."""
    ends = len(word) > SHORT and longer.endswith(word)
    return (
        longer in (f"{word}s", f"{word}es", f"{word}en") or ends or (len(word) > SHORT + 1 and longer.startswith(word))
    )


BITS = {**dict.fromkeys(map(plain, NO), 0), **dict.fromkeys(map(plain, YES), 1)}
"""0 and 1 in words."""
