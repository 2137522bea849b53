"""The About page's words: the method, what a run may be used for, how numbers come about, whose work this rests on."""

METHOD_ALT = (
    "From a {case} come the AI's answer, signals of how far to trust it, and what else was measured. The router turns "
    "them into a probability of asking a reader and a share for each available reader. The final answer is the AI's or "
    "that reader's."
)
METHOD_NUMBERS = "With the active run's numbers on the slice: who decides, who is asked, what goes wrong"
METHOD = """
1. **An AI has already read the {case}.** It answers {positive} or {negative}, and says how sure it is. It is not
   retrained.
2. **Other inputs say how far to trust it**, and more about the case: {inputs}.
3. **The router answers two questions.** Should a reader be asked? If so, which of those available? A reader who is
   away is never asked, neither in training nor in use.
4. **It learns from costs.** A missed {positive} costs {miss:g}, a false alarm {alarm:g}, and a reader's time something.
   Asking pays where a reader's expected errors and fee cost less than the AI's expected errors.
5. **Three terms keep it usable.** GSDP favours, for each kind of case, readers who make few costly errors on it;
   Rank-JS keeps any kind of case from depending on one reader; the budget limits the share of cases sent.
6. **Several models are trained from different seeds.** A number is their mean, and the page of a case says how many of
   them agree.
"""
OBJECTIVE = r"""
\begin{aligned}\min_\theta\;&\frac1N\sum_i\Big[(1-d_i)\,C_i^{\mathrm{ai}}
+d_i\sum_j q_{ij}\big(C_{ij}^{\mathrm{exp}}+\gamma\kappa_j\big)\Big]\\
&+\lambda_{\mathrm{GSDP}}L_{\mathrm{GSDP}}+\lambda_{\mathrm{rank}}L_{\mathrm{rank}}
+\lambda_{\mathrm{def}}(\bar d-\rho)+\tfrac{\mu}{2}[\bar d-\rho]_+^2\end{aligned}
"""
OBJECTIVE_WORDS = (
    "What training minimises: expected cost of errors and fees, the two regularisers, and the excess over the budget. "
    "d is the probability of sending a case, q the share of each reader, C the cost of errors, κ a fee, ρ the budget."
)

INTENDED_USE = """
**Intended for** research on when an AI should hand a case to a person, and for planning and reviewing such a service.

**Not intended for** diagnosis, treatment or triage of a patient. It is not a medical device, it has not been tried on
patients, and no regulator has reviewed it.

**Who should review it** before anything like it is used: those who read, those who are examined, and those who pay.
"""
LIMITATIONS = """
{drawn}- Readers' answers by their source: {origins}. Only real ones were given by people who looked at the {case}.
- A run knows the readers it was trained with. A new reader, another device or another population needs new readings.
- Errors cost the same for every patient here. {persons}
"""

NUMBERS = """
- **Train, val, test.** Models are trained on train cases and everything is chosen on val; test is read once. The splits
  are those of the table.
- **Clinical cost** is the mean cost of wrong final answers, **expert cost** the mean fee of the readers asked, **total
  cost** their sum. All are per case and in one unit.
- **Decisions are definite.** A model gives probabilities; the rule named in the model card turns them into one
  decision per case.
- **Intervals** hold the middle 95 % of 2,000 resamples of the cases, drawn within each cohort with a fixed seed; of
  more than 20,000 cases there are fewer resamples.
- **Differences** between methods are taken on the same resamples, so what both find hard cancels out.
- **± after a number** is the standard deviation over seeds: how much depends on the luck of training.
- **Ablations** take seeds as the unit and use Student's t.
- **Rates of a few cases** have Wilson's interval. Below ten cases, trust the count more than the rate.
- **Numbers of the paper** stand beside ours only on the paper's own slice: every test case.
"""

NO_DATASHEET = "Nobody has described this table in words yet. What its manifest says of it:"

REPRODUCTION = (
    "A dot is our mean less the paper's number, the line our 95 % interval: over cases for methods and readers, over "
    "seeds for ablations. Where the line crosses 0, the paper's number lies in our interval. All numbers are at the "
    "paper's own operating point, on all test cases, as the study stores them."
)
REASONS = (
    "Shown: numbers of the two prove it. Likely: it is known that something is made otherwise, but not by how much "
    "that matters. Not known: neither."
)

CHECKLISTS = (
    "What a report of such a study should say, in our own words, filled from the active run on the chosen slice. For a "
    "publication use the official lists; items marked AI are what STARD-AI asks beyond STARD."
)

LICENCES = """
- **This software:** MIT licence.
- **The table and its cohorts:** as their owners say (below), to be credited wherever a result is shown.
- **The typeface:** Inter, SIL Open Font License 1.1; its licence lies beside the font files.
"""
REFERENCES = """
- Zhan, W. (2026). *MPD²-Router: Mask-aware multi-expert prior-regularized dual-head deferral router in glaucoma
  screening and diagnosis.* Preprint.
- Mao, A., Mohri, C., Mohri, M., Zhong, Y. (2023). *Two-stage learning to defer with multiple experts.* NeurIPS.
- Narasimhan, H. et al. (2022). *Post-hoc estimators for learning to defer to an expert.* NeurIPS.
- Verma, R., Barrejón, D., Nalisnick, E. (2023). *Learning to defer to multiple experts: consistent surrogate losses,
  confidence calibration, and conformal ensembles.* AISTATS.
- Hemmer, P. et al. (2022). *Forming effective human-AI teams: building machine learning models that complement the
  capabilities of multiple experts.* IJCAI.
- Keswani, V., Lease, M., Kenthapadi, K. (2021). *Towards unbiased and accurate deferral to multiple experts.* AIES.
- Okabe, M., Ito, K. (2008). *Color universal design.* The palette of every chart.
"""
